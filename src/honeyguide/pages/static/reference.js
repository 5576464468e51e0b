// Conveniences of the reference; without this file everything can still be read. Copy a sample, find an endpoint, see where you are.
const side = document.getElementById("contents");
const links = new Map([...side.querySelectorAll("a[href^='#']")].map((link) => [link.hash.slice(1), link]));

// Where an endpoint is now: all of them were on one page.
const asked = location.hash.slice(1);
if (asked && !document.getElementById(asked)) {
  const there = [...side.querySelectorAll("a")].find((link) => link.hash.slice(1) === asked);
  if (there) location.replace(there.href);
}

for (const sample of document.querySelectorAll(".sample[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn slim";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const shown = [...sample.querySelectorAll("pre")].find((each) => each.checkVisibility());
    await navigator.clipboard.writeText(shown.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  if (navigator.clipboard) sample.querySelector("header").append(button);
}

// One choice of language for the whole page, and for the next visit.
function speak(language) {
  for (const radio of document.querySelectorAll(`.tabbed input[value="${language}"]`)) radio.checked = true;
}
document.addEventListener("change", (event) => {
  if (!event.target.matches(".tabbed input")) return;
  const before = event.target.closest(".tabbed").getBoundingClientRect().top;
  speak(event.target.value);
  window.scrollBy(0, event.target.closest(".tabbed").getBoundingClientRect().top - before);
  localStorage.setItem("sample-language", event.target.value);
});
const spoken = localStorage.getItem("sample-language");
if (["curl", "python", "js"].includes(spoken)) speak(spoken);

const find = side.querySelector(".find");
const none = side.querySelector(".none");
find.hidden = false;
find.addEventListener("input", () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of side.querySelectorAll("li")) {
    const text = `${entry.textContent} ${entry.dataset.path ?? ""}`.toLowerCase();
    entry.hidden = !words.every((word) => text.includes(word));
  }
  for (const part of side.querySelectorAll("[data-part]")) part.hidden = !part.querySelector("li:not([hidden])");
  none.hidden = side.querySelector("li:not([hidden])") !== null;
});
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") side.querySelector("li:not([hidden]) a")?.click();
  if (event.key === "Escape") { find.value = ""; find.dispatchEvent(new Event("input")); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, textarea")) { event.preventDefault(); find.focus(); }
});

side.addEventListener("click", (event) => {
  if (event.target.closest("a") && side.matches(":popover-open")) side.hidePopover();
});

let current = null;
const here = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    current?.removeAttribute("aria-current");
    current = links.get(target.id);
    current?.setAttribute("aria-current", "location");
    const { top, bottom } = current.getBoundingClientRect();
    if (top < 0 || bottom > side.clientHeight) side.scrollTo({ top: current.offsetTop - side.clientHeight / 2 });
  }
}, { rootMargin: "-10% 0px -80% 0px" });
for (const id of links.keys()) here.observe(document.getElementById(id));
