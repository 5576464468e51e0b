// Conveniences of the branding page; everything works without them.

// The color picker and the text field beside it follow each other. The field is what is sent.
for (const picker of document.querySelectorAll("input[data-color]")) {
  const text = document.getElementById(picker.dataset.color);
  picker.hidden = false;
  picker.addEventListener("input", (event) => {
    event.stopPropagation();
    text.value = picker.value;
    text.dispatchEvent(new Event("input", { bubbles: true }));
  });
  text.addEventListener("input", () => {
    const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text.value);
    if (short) picker.value = `#${short.slice(1).map((digit) => digit + digit).join("")}`;
    else if (/^#[0-9a-f]{6}$/i.test(text.value)) picker.value = text.value;
  });
}

// A chosen picture is shown at once; a logo also in the preview.
const frame = document.querySelector("iframe[data-follows]");
const logo = document.getElementById("logo-shown");
const put = () => {
  const place = logo.src.startsWith("data:") && frame.contentDocument?.querySelector(".logo");
  if (place) place.replaceWith(Object.assign(frame.contentDocument.createElement("img"), { className: "logo", src: logo.src, alt: "" }));
};
frame.addEventListener("load", put);
for (const input of document.querySelectorAll("input[data-picture]")) {
  const picture = document.getElementById(input.dataset.picture);
  input.addEventListener("change", () => {
    const file = input.files[0];
    if (!file) return;
    const reader = new FileReader();
    reader.onload = () => {
      picture.src = reader.result;
      picture.hidden = false;
      put();
    };
    reader.readAsDataURL(file);
    const own = input.closest("fieldset")?.querySelector('input[type="radio"][value="own"]');
    if (own) own.checked = true;
  });
}
