// Shows a subscriber beside the list where there is room for both. Every link to a subscriber is an ordinary one: without this
// file, and on narrower windows, it leads to their page.
const roomy = matchMedia("(min-width: 75em)");
const list = location.href, listTitle = document.title;
let panel = null; // the element beside the list
let shown = ""; // whose page it shows
let asked = 0;
let sending = null; // the form that is on its way
let byPointer = false; // whoever points sees the panel open; whoever types needs to see where the focus went
// Read aloud: the region is there, since the panel opened, before its text.
const status = Object.assign(document.createElement("p"), { className: "unseen", role: "status" });

const pathOf = (address) => new URL(address, location.href).pathname;
const isPerson = (path) => /^\/subscribers\/[0-9a-f-]{36}$/.test(path);
const rowOf = (path) => document.querySelector(`tr[data-href="${path}"]`);
// Links to the subscriber in the list, not in the panel itself.
const linkTo = (path) => [...document.querySelectorAll(`a[href="${path}"]`)].find((link) => !panel?.contains(link));
const isTyped = (field) => field.matches?.("textarea, input:not([type=hidden])") && field.value !== field.defaultValue;
const hasTyped = () => [...panel.querySelectorAll("input, textarea")].some(isTyped);

const closeButton = () => {
  const button = document.createElement("button");
  button.className = "btn ghost only close";
  button.setAttribute("aria-label", "Close");
  button.innerHTML = '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="m4 4 8 8M12 4l-8 8"/></svg>';
  button.addEventListener("click", close);
  return button;
};

// Puts the subscriber of this page into the panel, with what the page says happened. False if it is no such page.
const put = (html) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const person = page.querySelector("article[data-person]");
  if (!person) return false;
  if (!panel) {
    panel = document.createElement("aside");
    panel.className = "beside";
    document.querySelector(".shell").after(panel, status);
    document.documentElement.classList.add("has-beside");
  }
  const answer = page.querySelector(".toast");
  // The buttons that undo something belong to a form outside of the article.
  const undo = document.getElementById("undo") ? null : page.getElementById("undo");
  panel.replaceChildren(...[person, answer, undo].filter(Boolean));
  answer?.removeAttribute("role"); // it is read aloud below
  status.textContent = answer?.firstElementChild.textContent ?? "";
  panel.setAttribute("aria-label", person.querySelector("h1").textContent.trim());
  person.querySelector("header").append(closeButton());
  panel.dispatchEvent(new Event("panel", { bubbles: true })); // dashboard.js does there what it does on a page
  document.title = page.title;
  shown = person.dataset.person;
  for (const row of document.querySelectorAll("tr[aria-current]")) row.removeAttribute("aria-current");
  rowOf(shown)?.setAttribute("aria-current", "true");
  return true;
};

const focusHeading = () => panel?.querySelector("h1")?.focus({ preventScroll: true, focusVisible: !byPointer });

// What a form was answered with, if it is not the subscriber: too many requests, say. What was typed stays.
const sayTrouble = (text) => {
  panel.querySelector(".toast")?.remove();
  const answer = Object.assign(document.createElement("div"), { className: "toast" });
  answer.append(Object.assign(document.createElement("span"), { textContent: text }));
  panel.append(answer);
  status.textContent = text;
};

const open = async (path) => {
  const number = ++asked;
  const answer = await fetch(path).catch(() => null);
  const html = await answer?.text();
  if (number !== asked) return;
  // Logged out meanwhile, erased, or no connection: the browser says it best.
  if (!answer?.ok || !put(html)) return location.assign(path);
  rowOf(path)?.scrollIntoView({ block: "nearest" });
  focusHeading();
};

const hide = () => {
  asked++;
  if (!panel) return;
  const back = linkTo(shown) ?? rowOf(shown)?.querySelector("a");
  panel.remove();
  status.remove();
  panel = null;
  document.title = listTitle;
  document.documentElement.classList.remove("has-beside");
  rowOf(shown)?.removeAttribute("aria-current");
  back?.focus();
};

// Each subscriber opened from another is a step of the history; closing goes back before the first.
function close() {
  const steps = history.state?.beside ?? 0;
  if (steps) history.go(-steps);
  else hide();
}

const visit = (path) => {
  history.pushState({ beside: (panel ? history.state?.beside ?? 0 : 0) + 1 }, "", path);
  open(path);
};

// After a reload, or on the way back from elsewhere, this page is no longer the list whose address the browser shows again.
addEventListener("popstate", () => {
  if (panel && location.pathname === shown) return; // a link to a place on the page
  if (location.href.split("#")[0] === list.split("#")[0]) hide();
  else if (isPerson(location.pathname) && history.state?.beside && !isPerson(pathOf(list))) open(location.pathname);
  else location.reload();
});

addEventListener("pointerdown", () => { byPointer = true; }, true);
addEventListener("keydown", () => { byPointer = false; }, true);

// A window that has become too narrow has the page instead.
roomy.addEventListener("change", () => { if (panel && !roomy.matches && !hasTyped()) location.reload(); });

// Before the row's own click handler, which would leave the page.
document.addEventListener("click", (event) => {
  if (!roomy.matches || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest("a[href]:not([target], [download])");
  const row = link ? null : event.target.closest("tr[data-href]");
  if (row && (event.target.closest("a, button, input, label, summary, td.check") || getSelection()?.toString())) return;
  const path = link ? pathOf(link.getAttribute("href")) : row ? pathOf(row.dataset.href) : "";
  // On their own page, which has no list, a subscriber leads to the page of another. So does a link in a dialog.
  if (!isPerson(path) || isPerson(pathOf(list)) || link?.closest("dialog")) return;
  event.preventDefault();
  event.stopPropagation();
  if (path !== shown || !panel) visit(path);
}, true);

// The next or the previous of the list takes the place of this one in the history.
const step = (by) => {
  const paths = [...document.querySelectorAll("tr[data-href]")].map((row) => pathOf(row.dataset.href)).filter(isPerson);
  const links = [...document.querySelectorAll("main a[href]")].map((link) => pathOf(link.getAttribute("href"))).filter(isPerson);
  const all = paths.length ? paths : [...new Set(links)];
  const next = all[all.indexOf(shown) + by];
  if (!next || !all.includes(shown)) return;
  history.replaceState(history.state, "", next);
  open(next);
};

document.addEventListener("keydown", (event) => {
  if (!panel || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  const field = event.target.closest?.("input, textarea, select");
  // What was typed is not lost by one key.
  if (event.key === "Escape") {
    if (hasTyped() && event.target !== panel.querySelector("h1")) focusHeading();
    else close();
  } else if (!field && !hasTyped() && (event.key === "j" || event.key === "k")) {
    step(event.key === "j" ? 1 : -1);
  }
});

// The row of the list as it is now. Its box stays, with what was chosen.
const refreshRow = async (path) => {
  const row = rowOf(path);
  const answer = row && await fetch(list).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = page.querySelector(`tr[data-href="${path}"]`);
  if (!now || now.cells.length !== row.cells.length) return;
  [...now.cells].forEach((cell, at) => { if (!cell.matches(".check")) row.cells[at].replaceWith(document.importNode(cell, true)); });
};

// A form of the panel is sent from here, and its answer is shown here.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const isOurs = panel && (panel.contains(form) || panel.contains(event.submitter));
  if (!isOurs || event.defaultPrevented || form.getAttribute("method") !== "post" || "leaves" in form.dataset) return;
  event.preventDefault();
  if (form === sending) return; // a double click
  sending = form;
  const path = shown, number = ++asked;
  const sent = new URLSearchParams(new FormData(form, event.submitter));
  if (sent.has("back")) sent.set("back", path); // of the form that undoes something
  // Not form.action: a button of it may have that name.
  const answer = await fetch(form.getAttribute("action"), { method: "POST", body: sent }).catch(() => null);
  const html = await answer?.text();
  sending = null;
  refreshRow(path);
  // Somebody else is shown by now, or nobody.
  if (number !== asked) return;
  if (!answer) return sayTrouble("There is no connection. Try again when there is.");
  if (put(html)) {
    const wrong = panel.querySelector("[aria-invalid=true]");
    return wrong ? wrong.focus({ preventScroll: true }) : focusHeading();
  }
  // Logged out meanwhile, or erased: the browser says it best.
  if (answer.ok || answer.status === 404) return location.assign(path);
  const page = new DOMParser().parseFromString(html, "text/html");
  sayTrouble([...page.querySelectorAll("h1, h1 + p")].map((each) => each.textContent).join(". "));
});
