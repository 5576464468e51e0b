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

// A part of the page that a slider changes.
const show = (slider) => {
  const dollars = Number(slider.value).toLocaleString("en-US", { style: "currency", currency: "USD" });
  slider.closest("form").querySelector("[data-shows-dollars]").textContent = dollars;
};
document.addEventListener("input", (event) => {
  if (event.target.matches("[data-refresh] [type=range]")) show(event.target);
});
document.addEventListener("change", async (event) => {
  const form = event.target.closest("[data-refresh]");
  if (!form) return;
  const answer = await fetch(`?${new URLSearchParams(new FormData(form))}`);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const found = page.getElementById(form.dataset.refresh);
  if (found) form.parentElement.replaceWith(found);
  document.querySelector("[data-refresh] [type=range]")?.focus();
});
