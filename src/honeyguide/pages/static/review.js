// Groups to review, by keyboard; and how many of a group are chosen. Without this file, the buttons do the same.
const groups = [...document.querySelectorAll("[data-group]")];
const isTyping = (at) => at.matches?.("input:not([type=checkbox]), textarea, select");

for (const group of groups) {
  group.tabIndex = -1;
  const boxes = [...group.querySelectorAll("input[name=id]")];
  const buttons = [...group.querySelectorAll("button[data-verb]")];
  const count = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    for (const button of buttons) {
      button.disabled = !chosen;
      button.querySelector("[data-count]").textContent = chosen.toLocaleString("en");
    }
  };
  if (boxes.length) {
    group.addEventListener("change", count);
    count(); // the browser may remember boxes that were unchecked
  }
}

const move = (step) => {
  const at = groups.findIndex((group) => group.contains(document.activeElement));
  const next = groups[at < 0 ? 0 : Math.min(Math.max(at + step, 0), groups.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
};

const press = (value) => {
  const group = groups.find((each) => each.contains(document.activeElement));
  group?.querySelector(`button[value=${value}]`)?.click();
};

const keys = {
  j: () => move(1),
  k: () => move(-1),
  v: () => press("verify"),
  r: () => press("reject"),
  z: () => document.querySelector("button[form=undo]")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
  const act = keys[event.key];
  if (!act || document.querySelector("dialog[open], .beside")) return;
  event.preventDefault();
  act();
});
for (const hint of document.querySelectorAll("[data-keys]")) hint.hidden = false;
