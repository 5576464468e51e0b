// The command menu, opened with Ctrl K or Cmd K: the search page in a dialog, with results while somebody types. Without this
// file, its links lead to that page.
const DELAY_MS = 120;
const isMac = navigator.platform.startsWith("Mac");
for (const keys of document.querySelectorAll(".jump kbd")) keys.textContent = isMac ? "⌘ K" : "Ctrl K";

const box = document.createElement("dialog");
box.className = "command";
box.setAttribute("aria-label", "Search");
box.innerHTML = `<div class="ask">
  <input type="search" role="combobox" aria-label="Search subscribers, pages and actions" aria-expanded="true" aria-autocomplete="list"
         aria-controls="command-results" autocomplete="off" spellcheck="false" maxlength="100" placeholder="Search">
  <kbd>Esc</kbd>
</div>
<div class="found" id="command-results" role="listbox" aria-label="Results"></div>
<p class="unseen" role="status"></p>
<footer><span><kbd>↑</kbd> <kbd>↓</kbd> to choose</span><span><kbd>↵</kbd> to open</span><span><kbd>${isMac ? "⌘" : "Ctrl"} ↵</kbd> in a new tab</span></footer>`;
const input = box.querySelector("input"), results = box.querySelector(".found"), status = box.querySelector("[role=status]");
let options = [], at = -1, asked = 0, timer;
let found = null; // what the results are of
let early = null; // Enter, pressed before they were there

const page = (text) => `/search?q=${encodeURIComponent(text)}`;

const choose = (n) => {
  options[at]?.removeAttribute("aria-selected");
  at = options.length ? (n + options.length) % options.length : -1;
  const chosen = options[at];
  chosen?.setAttribute("aria-selected", "true");
  chosen?.scrollIntoView({ block: "nearest" });
  if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
  else input.removeAttribute("aria-activedescendant");
};

// The links of the page become options: the cursor stays in the field, and arrows go through them.
const show = (html, text) => {
  found = text;
  results.innerHTML = html;
  for (const heading of results.querySelectorAll("h2")) heading.id = `command-${heading.id}`;
  for (const list of results.querySelectorAll("ul")) {
    list.setAttribute("role", "group");
    list.setAttribute("aria-labelledby", `command-${list.getAttribute("aria-labelledby")}`);
  }
  for (const heading of results.querySelectorAll("h2")) heading.setAttribute("role", "presentation");
  for (const item of results.querySelectorAll("li")) item.setAttribute("role", "presentation");
  options = [...results.querySelectorAll("a")];
  options.forEach((each, n) => { each.id = `command-option-${n}`; each.setAttribute("role", "option"); each.tabIndex = -1; });
  at = -1;
  choose(0);
  status.textContent = `${options.length} ${options.length === 1 ? "result" : "results"}`;
  if (early) follow(early);
};

const follow = (key) => {
  if (found !== input.value) early = key;
  else if (!options.length) location.assign(page(input.value));
  else if (key.metaKey || key.ctrlKey) open(options[at].href);
  else options[at].click();
};

const ask = async () => {
  const number = ++asked, text = input.value;
  const answer = await fetch(`${page(text)}&part=results`).catch(() => null);
  const html = await answer?.text().catch(() => null);
  if (number !== asked) return;
  // Somebody who is logged out by now is shown the way to the login.
  if (answer?.redirected) return location.assign(page(text));
  if (answer?.ok && html) return show(html, text);
  early = null;
  show("", text);
  results.innerHTML = "<p>The search did not answer. Press Enter to try again.</p>";
  status.textContent = results.textContent;
};

const openMenu = () => {
  if (box.open) return;
  if (!box.isConnected) document.body.append(box);
  box.showModal();
  input.select();
  ask();
};

input.addEventListener("input", () => { early = null; clearTimeout(timer); timer = setTimeout(ask, DELAY_MS); });
input.addEventListener("keydown", (event) => {
  if (event.isComposing) return; // Enter ends a word of Japanese, say
  const steps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 6, options.length - 1), PageUp: Math.max(at - 6, 0) };
  if (event.key in steps) choose(steps[event.key]);
  else if (event.key === "Enter") follow(event);
  else if (event.key === "Escape") box.close(); // Chromium would only empty the field
  else return;
  event.preventDefault();
});
// A link to a place on this page changes only the address.
results.addEventListener("click", (event) => { if (event.target.closest("a") && !event.metaKey && !event.ctrlKey) box.close(); });
addEventListener("hashchange", () => box.close());
// What is answered later opens nothing.
box.addEventListener("close", () => { asked++; clearTimeout(timer); found = early = null; });
box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  openMenu();
});
for (const link of document.querySelectorAll("a[href='/search']")) link.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  link.closest("[popover]:popover-open")?.hidePopover();
  openMenu();
});
