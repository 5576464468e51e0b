// Conveniences of the dashboard; without this file every form and link still works.

// What just happened floats, and leaves after a while: not while it is pointed at or focused, nor before its Undo is over.
for (const toast of document.querySelectorAll(".toast")) {
  const close = Object.assign(document.createElement("button"), { type: "button", className: "btn slim only", textContent: "×" });
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => toast.remove());
  toast.append(close);
  toast.classList.add("floats");
  const leave = () => { if (toast.matches(":hover, :focus-within")) setTimeout(leave, 2000); else toast.remove(); };
  setTimeout(leave, toast.querySelector("[data-undo-ms]") ? 60000 : 20000);
}

// Copy. Browsers have no clipboard on plain http, where a hidden field is selected and copied instead.
const copyText = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = Object.assign(document.createElement("textarea"), { className: "unseen", value: text });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
};
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button || button.nextElementSibling?.matches(".copied")) return;
  const label = button.textContent;
  // Read aloud: the region has to be there before its text.
  const status = Object.assign(document.createElement("span"), { className: "unseen copied", role: "status" });
  button.after(status);
  await copyText(button.dataset.copy);
  button.textContent = status.textContent = "Copied";
  setTimeout(() => { button.textContent = label; status.remove(); }, 1500);
});

// What only scripts can do, on this page and in what panel.js shows later. What can no longer be undone says so: until the page
// is loaded again, it cannot know how it ended.
const enliven = (root) => {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
  for (const place of root.querySelectorAll("[data-undo-ms]")) {
    setTimeout(() => { place.textContent = place.dataset.undoOver ?? ""; }, Number(place.dataset.undoMs));
  }
};
enliven(document);
document.addEventListener("panel", (event) => enliven(event.target));

// Show what is typed as a password.
for (const button of document.querySelectorAll("[data-reveals]")) {
  const field = document.getElementById(button.dataset.reveals);
  button.hidden = false;
  button.setAttribute("aria-controls", field.id);
  button.addEventListener("click", () => {
    const isShown = field.type === "password";
    field.type = isShown ? "text" : "password";
    button.firstElementChild.textContent = isShown ? "Hide" : "Show";
  });
}

// Dangerous forms ask once, saying what will be lost.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = event.submitter?.dataset.ask ?? form.dataset.ask;
  if (!question || form.dataset.sure) return;
  event.preventDefault();
  const box = document.createElement("dialog");
  const text = document.createElement("p");
  text.textContent = question;
  const row = document.createElement("div");
  row.className = "row end";
  const no = Object.assign(document.createElement("button"), { className: "btn", textContent: "Cancel", value: "no" });
  const yes = Object.assign(document.createElement("button"), { className: "btn danger", textContent: event.submitter?.textContent || "Continue", value: "yes" });
  row.append(no, yes);
  const inner = document.createElement("form");
  inner.method = "dialog";
  inner.append(text, row);
  box.append(inner);
  document.body.append(box);
  box.addEventListener("close", () => {
    if (box.returnValue === "yes") {
      // Tells the server that it need not ask again.
      const sure = Object.assign(document.createElement("input"), { type: "hidden", name: "sure", value: "yes" });
      form.append(sure);
      form.dataset.sure = "yes";
      form.requestSubmit(event.submitter);
      delete form.dataset.sure;
      sure.remove();
    }
    box.remove();
  });
  box.showModal();
});

// A double click sends a form once. Those in the subscriber panel are sent by panel.js.
const sentMs = new WeakMap();
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post" || form.closest(".beside")) return;
  if (event.timeStamp - (sentMs.get(form) ?? -Infinity) < 1000) event.preventDefault();
  else sentMs.set(form, event.timeStamp);
});

// The whole row leads to the thing.
document.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-href]");
  if (!row || event.target.closest("a, button, input, label, summary, td.check") || getSelection()?.toString()) return;
  if (event.metaKey || event.ctrlKey) open(row.dataset.href);
  else location.assign(row.dataset.href);
});

// Choose all, and how many are chosen.
for (const all of document.querySelectorAll("input[data-all]")) {
  const boxes = [...document.querySelectorAll(`input[name="${all.dataset.all}"]`)];
  const shown = document.querySelector("[data-chosen]");
  const count = () => {
    const n = boxes.filter((box) => box.checked).length;
    all.checked = n > 0 && n === boxes.length;
    all.indeterminate = n > 0 && n < boxes.length;
    if (shown) shown.textContent = `${n} selected`;
  };
  all.hidden = false;
  all.addEventListener("change", () => { for (const box of boxes) box.checked = all.checked; count(); });
  for (const box of boxes) box.addEventListener("change", count);
  count();
}

// Filters apply as they are chosen.
for (const field of document.querySelectorAll("[data-at-once]")) field.addEventListener("change", () => field.form.requestSubmit());

// A page that waits for work to end looks again by itself.
const waits = document.querySelector("[data-again]");
if (waits) setTimeout(() => location.reload(), Number(waits.dataset.again));

// A frame as tall as what it shows.
for (const frame of document.querySelectorAll("iframe[data-fits]")) {
  const fit = () => { frame.style.height = `${frame.contentDocument.body.offsetHeight}px`; };
  frame.addEventListener("load", fit);
  if (frame.contentDocument?.readyState === "complete") fit();
}

// A preview that follows what is typed: a page in its frame, or a part of this one.
for (const shown of document.querySelectorAll("[data-follows]")) {
  const form = document.getElementById(shown.dataset.follows);
  let timer, asked = 0;
  const draw = async () => {
    const number = ++asked;
    const typed = [...new FormData(form)].filter(([, value]) => typeof value === "string");
    const answer = await fetch(shown.dataset.from, { method: "POST", body: new URLSearchParams(typed) });
    const html = await answer.text();
    if (!answer.ok || number !== asked) return;
    if (shown instanceof HTMLIFrameElement) shown.srcdoc = html;
    else shown.innerHTML = html;
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(draw, 250); };
  form.addEventListener("input", soon);
  for (const field of form.elements) if (!form.contains(field)) field.addEventListener("input", soon);
}
