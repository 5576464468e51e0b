// Honeyguide on your own website: carries the code of a referral link to your form. docs/embeds.md
(() => {
  const script = document.currentScript || document.querySelector('script[data-campaign][src*="/embed/honeyguide"]');
  if (!script || window.honeyguide) return;
  const settings = script.dataset;
  const base = script.src.replace(/\/embed\/[^/]*$/, "");
  const KEY = "honeyguide";
  const CODES = ["ref", "partner"];
  const CARRIED = [...CODES, "utm_source", "utm_campaign"];
  const DAY_MS = 86400000;

  const emit = (name, detail) => document.dispatchEvent(new CustomEvent(`honeyguide:${name}`, { detail }));

  // ---- how the visitor came: kept by this website alone, and only if they came by a link ----
  let kept = {};
  const storage = () => (settings.storage === "session" ? sessionStorage : localStorage);

  const load = () => {
    const found = JSON.parse(storage().getItem(KEY) || "{}");
    if (found.until > Date.now()) kept = found;
    else storage().removeItem(KEY);
  };

  const land = () => {
    const query = new URLSearchParams(location.search);
    const given = {};
    for (const name of CARRIED) {
      const value = query.get(name) || (CODES.includes(name) && query.get(`rh_${name}`));
      if (value && value.length < 256) given[name] = value;
    }
    if (!Object.keys(given).length) return;
    const isReferral = CODES.some((name) => given[name]);
    // A new link replaces the one before.
    kept = { ...(isReferral ? {} : kept), ...given, until: Date.now() + 30 * DAY_MS };
    storage().setItem(KEY, JSON.stringify(kept));
    if (isReferral) emit("referral", referral());
  };

  const referral = () => Object.fromEntries(CARRIED.filter((name) => kept[name]).map((name) => [name, kept[name]]));

  // A browser may forbid storage; then the code lasts as long as the page.
  for (const step of [load, land]) try { step(); } catch {}

  // ---- calls: none before somebody signs up, and none that the page waits for ----
  const call = (campaign, path, fields) =>
    fetch(`${base}/embed/${encodeURIComponent(campaign)}/${path}`, {
      method: "POST",
      body: new URLSearchParams(fields),
      credentials: "omit",
      referrerPolicy: "no-referrer",
      keepalive: true,
    });

  const report = async (email, via, more) => {
    try {
      const answer = await call(settings.campaign || "", "signup", { email, ...referral(), ...more });
      if (answer.ok) emit("signup", { via });
      return answer.ok;
    } catch {
      return false;
    }
  };

  // ---- the operator's own form: marked with data-honeyguide, or chosen by data-form ----
  const isOurs = (form) => {
    if (form.matches("[data-honeyguide]")) return true;
    try {
      return Boolean(settings.form && form.closest(settings.form));
    } catch {
      return false; // not a selector
    }
  };

  const fill = (root) => {
    for (const field of root.querySelectorAll("[data-honeyguide-field]")) {
      const value = kept[field.dataset.honeyguideField];
      if (value) field.value = value;
    }
  };

  const seen = (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !isOurs(form)) return;
    fill(form);
    const find = (name) => form.querySelector(`[data-honeyguide-${name}]`);
    const email = find("email") || form.querySelector('input[type="email"], input[name*="email" i]');
    if (!email || !email.value.includes("@")) return;
    const more = { waited_ms: Math.round(performance.now()) };
    if (find("name")) more.name = find("name").value;
    if (find("consent")?.checked) more.consent = "own";
    report(email.value, "form", more);
  };

  document.addEventListener("submit", (event) => { try { seen(event); } catch {} }, true);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => fill(document));
  else fill(document);

  window.honeyguide = Object.freeze({
    version: 1,
    referral,
    track: (email, { name = "", consent = false } = {}) =>
      report(String(email), "track", { ...(name && { name }), ...(consent && { consent: "own" }) }),
  });
})();
