// Copying and the phone's own share menu. Everything on reader pages works without this file; what needs it starts hidden.
for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const label = button.querySelector("span");
  const name = label.textContent;
  const status = Object.assign(document.createElement("span"), { className: "unseen" });
  let back = 0;
  status.setAttribute("role", "status");
  button.after(status);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      field.select(); // pages over plain http, and browsers that ask first
      document.execCommand("copy");
    }
    label.textContent = status.textContent = button.dataset.copied;
    button.classList.add("copied");
    clearTimeout(back);
    back = setTimeout(() => {
      label.textContent = name;
      status.textContent = "";
      button.classList.remove("copied");
    }, 2000);
  });
  field.addEventListener("focus", () => field.select());
}
for (const ways of document.querySelectorAll(".ways")) {
  const native = ways.querySelector("[data-native]");
  if (!navigator.share) continue;
  native.hidden = false;
  native.addEventListener("click", () => {
    const { title, text, link } = ways.dataset;
    navigator.share({ title, text: text.replace(link, "").trim(), url: link }).catch(() => {});
  });
}
