// Conveniences of the partner pages; everything works without them.

// A chosen logo is shown at once, beside its field and in every preview.
for (const input of document.querySelectorAll("input[data-shows]")) {
  const picture = document.getElementById(input.dataset.shows);
  const frames = document.querySelectorAll("iframe[data-follows]");
  const put = (frame) => {
    const place = picture.src.startsWith("data:") && frame.contentDocument?.querySelector(".logo");
    if (place) place.replaceWith(Object.assign(frame.contentDocument.createElement("img"), { className: "logo", src: picture.src, alt: "" }));
  };
  for (const frame of frames) frame.addEventListener("load", () => put(frame));
  input.addEventListener("change", () => {
    const file = input.files[0];
    if (!file) return;
    const reader = new FileReader();
    reader.onload = () => { picture.src = reader.result; picture.hidden = false; frames.forEach(put); };
    reader.readAsDataURL(file);
  });
}

// Printing needs a browser that can.
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

// Part of a page that follows a slider.
document.addEventListener("input", ({ target }) => {
  const shown = target.closest("[data-refresh]")?.querySelector("[data-dollars]");
  if (shown) shown.textContent = Number(target.value).toLocaleString("en-US", { style: "currency", currency: "USD" });
});
document.addEventListener("change", async ({ target }) => {
  const form = target.closest("[data-refresh]"), id = form?.dataset.refresh;
  if (!form) return;
  const answer = await fetch(`?${new URLSearchParams(new FormData(form))}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById(id).replaceWith(page.getElementById(id));
  document.querySelector(`#${id} [type=range]`).focus();
});
