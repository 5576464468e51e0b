// New subscribers appear while Home is open: it asks every ten seconds, and not while nobody looks at it.
const EVERY_MS = 10_000;
const home = document.querySelector("[data-home]");

// Read aloud: the region is there before its text, which is the first figure, and only what has changed.
const status = Object.assign(document.createElement("p"), { className: "unseen", role: "status" });

// What is open or in use stays as it is; the next time will do.
const isInUse = (part) => part.matches(":hover, :focus-within");

const show = (html) => {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const parts = [...fresh.querySelectorAll("[data-live]")].map((part) => [
    document.querySelector(`[data-live="${part.dataset.live}"]`),
    part,
  ]);
  if (parts.some(([old]) => old && isInUse(old))) return;
  // The first one of all: the whole page is another.
  if (fresh.querySelector(".combcard") && !document.querySelector(".combcard")) return location.reload();
  for (const [old, part] of parts) {
    if (part.dataset.since) home.dataset.since = part.dataset.since;
    if (!old) continue;
    const opened = [...old.parentElement.querySelectorAll("[data-live] details, details[data-live]")].map((each) => each.open);
    const scrolled = old.querySelector(".pan")?.scrollLeft;
    old.replaceWith(part);
    [...part.parentElement.querySelectorAll("[data-live] details, details[data-live]")].forEach((each, place) => { each.open = opened[place] ?? false; });
    if (scrolled !== undefined) part.querySelector(".pan").scrollLeft = scrolled;
  }
  const figure = [...document.querySelectorAll("[data-live=figures] > :first-child > :is(.name, b)")];
  status.textContent = figure.map((each) => each.textContent).join(": ");
};

const ask = async () => {
  const answer = await fetch(`${home.dataset.home}&since=${home.dataset.since}`);
  if (answer.redirected || answer.status === 403) return false; // logged out
  if (answer.status === 200) show(await answer.text());
  return true;
};

if (home) {
  let timer, isAsking = false;
  const again = () => { clearTimeout(timer); if (!document.hidden) timer = setTimeout(refresh, EVERY_MS); };
  const refresh = async () => {
    if (isAsking) return;
    isAsking = true;
    if (!status.isConnected) home.after(status); // what the page itself says is over by now
    const goesOn = await ask().catch(() => true);
    isAsking = false;
    if (goesOn) again();
    else document.removeEventListener("visibilitychange", again);
  };
  document.addEventListener("visibilitychange", again);
  again();
}
