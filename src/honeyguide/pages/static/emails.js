// The previews follow what is typed. They are documents of their own: this page forbids inline styles.
const form = document.getElementById("texts");
const frames = document.querySelectorAll(".email-previews iframe");
const [button, ...others] = form.querySelectorAll("[formtarget]");
const source = button.formAction;
for (const each of [button, ...others]) each.remove();
let timer, asked = 0;
const draw = async () => {
  const number = ++asked;
  const answer = await fetch(source, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const html = await answer.text();
  if (!answer.ok || number !== asked) return;
  for (const frame of frames) frame.contentDocument.documentElement.innerHTML = html;
};
form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(draw, 250); });
