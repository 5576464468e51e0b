// Honeyguide on your own website: carries the code of a referral link to your form, and shows a signup form or a referral page.
// It sets no cookies, and needs neither inline styles nor eval. See docs/embeds.md.
(() => {
  const script = document.currentScript || document.querySelector('script[data-campaign][src*="/embed/honeyguide"]');
  // Not window.honeyguide: that could be an element of the page with this id.
  if (!script || customElements.get("honeyguide-signup")) return;
  const settings = script.dataset;
  const base = script.src.replace(/\/embed\/[^/]*$/, "");
  const KEY = "honeyguide";
  // Where a link may have each code: our own name first, then those of other tools and the operator's.
  const NAMES = {
    ref: ["ref", "rh_ref", "grsf", "kid", "mwr", "referralCode", ...(settings.parameters || "").split(/[\s,]+/).filter(Boolean)],
    partner: ["partner", "rh_partner"],
  };
  const CODES = Object.keys(NAMES);
  const CARRIED = [...CODES, "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"];
  const DAY_MS = 86400000;
  const [PATIENCE_MS, TOKEN_MS] = [15000, 3000]; // a page that waits for us waits less for a token

  const emit = (name, detail) => document.dispatchEvent(new CustomEvent(`honeyguide:${name}`, { detail }));

  // ---- how the visitor came: kept by this website alone, and only if they came by a link ----
  let kept = {};
  const storage = () => (settings.storage === "session" ? sessionStorage : localStorage);

  const load = () => {
    // What was kept before the operator chose the session only.
    if (settings.storage === "session") localStorage.removeItem(KEY);
    const found = JSON.parse(storage().getItem(KEY) || "{}");
    if (found.until > Date.now()) kept = found;
    else storage().removeItem(KEY);
  };

  const land = () => {
    const query = new URLSearchParams(location.search);
    const given = {};
    for (const name of CARRIED) {
      const values = (NAMES[name] || [name]).map((each) => query.get(each));
      const value = values.find((each) => each && each.length < 256);
      if (value) given[name] = value;
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

  // ---- calls: none before somebody begins to fill in a form, and none that the page waits for ----
  const call = (campaign, path, fields, more) =>
    fetch(`${base}/embed/${encodeURIComponent(campaign)}/${path}`, {
      method: "POST",
      body: new URLSearchParams(fields),
      credentials: "omit",
      referrerPolicy: "no-referrer",
      keepalive: true,
      ...more,
    });

  // What a flooded link asks for, by ALTCHA's protocol: its worker tries numbers until one gives the key. A policy may forbid workers from a blob.
  const solve = async (challenge) => {
    const code = await fetch(`${base}/embed/altcha-pbkdf2-3.2.2.js`, { credentials: "omit", referrerPolicy: "no-referrer", integrity: "sha384-Q859rPKSFx6S8opWxO30kxSVC8HZGBKRZvmHRNOsGpyLtby7C/RZUbScpSbOYBkt" });
    const source = URL.createObjectURL(await code.blob());
    const workers = Array.from({ length: Math.min(4, navigator.hardwareConcurrency || 1) }, () => new Worker(source));
    const solution = new Promise((resolve, reject) => workers.forEach((worker, counterStart) => {
      worker.onerror = reject;
      worker.onmessage = ({ data }) => (data?.derivedKey ? resolve(data) : reject());
      worker.postMessage({ type: "work", challenge, counterStart, counterStep: workers.length });
    }));
    return btoa(JSON.stringify({ challenge, solution: await solution.finally(() => workers.forEach((worker) => worker.terminate())) }));
  };

  // A token says that a form was shown, and is good for one signup; one without is looked at before it is paid for. The old one is kept until it is too old, unless it never came.
  const prepared = (campaign, old) => {
    if (old && Date.now() < old.until) return old;
    const given = { until: Date.now() + DAY_MS };
    given.coming = (async () => {
      const query = new URLSearchParams(referral()).toString();
      const answer = await fetch(`${base}/embed/${encodeURIComponent(campaign)}/token${query && `?${query}`}`, { credentials: "omit", referrerPolicy: "no-referrer", signal: AbortSignal.timeout(PATIENCE_MS) });
      const { challenge, token } = await answer.json();
      if (!token) throw new Error(answer.status);
      given.token = token;
      if (challenge) given.working = solve(challenge).then((work) => { given.work = work; }, () => {});
    })().catch(() => { given.until = 0; });
    return given;
  };

  const patience = (working) => Promise.race([working, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);

  // If the token was used for another address, once more with a fresh one. `send` answers to the fields.
  const sendOnce = async (campaign, send, fields, given) => {
    const all = ({ token, work }) => ({ ...fields, ...(token && { token }), ...(work && { work }) });
    const answer = await send(all(given));
    if (!given.token || answer.status !== 400 || !(await answer.clone().json()).errors.token) return answer;
    given.until = 0;
    const fresh = prepared(campaign);
    await fresh.coming.then(() => patience(fresh.working));
    return send(all(fresh));
  };

  // For the page's next signup, since somebody began to fill in a form. Nothing waits for us: if it is not there, a signup is sent without when the page goes away.
  let next;
  const report = async (email, via, more) => {
    const campaign = settings.campaign || "";
    try {
      const given = prepared(campaign, next);
      next = undefined;
      if (!given.token) await Promise.race([given.coming, new Promise((resolve) => {
        for (const [target, name] of [[window, "pagehide"], [document, "visibilitychange"]]) target.addEventListener(name, resolve);
        setTimeout(resolve, TOKEN_MS);
      })]);
      const answer = await sendOnce(campaign, (fields) => call(campaign, "signup", fields), { email, ...referral(), ...more }, given);
      if (answer.ok) emit("signup", { via });
      return answer.ok;
    } catch {
      return false;
    }
  };

  // ---- the operator's own form: marked with data-honeyguide, or chosen by data-form ----
  const EMAIL = 'input[type="email"], input[name*="email" i]';
  const isOurs = (form) => {
    if (form.matches("[data-honeyguide]")) return true;
    try { return Boolean(settings.form && form.closest(settings.form)); } catch { return false; } // not a selector
  };

  const fill = (root) => {
    for (const field of root.querySelectorAll("[data-honeyguide-field]")) field.value = kept[field.dataset.honeyguideField] || field.value;
  };

  // A form of the operator's, or where somebody enters an address for their own code.
  const touched = ({ target }) => {
    const form = target.closest?.("form");
    if ((form && isOurs(form)) || target.matches?.(EMAIL)) next = prepared(settings.campaign || "", next);
  };

  const seen = (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !isOurs(form)) return;
    fill(form);
    const find = (name) => form.querySelector(`[data-honeyguide-${name}]`);
    const email = find("email") || form.querySelector(EMAIL);
    if (!email || !email.value.includes("@")) return;
    const name = find("name")?.value;
    report(email.value, "form", { waited_ms: Math.round(performance.now()), ...(name != null && { name }), ...(find("consent")?.checked && { consent: "own" }) });
  };

  for (const name of ["focusin", "input"]) document.addEventListener(name, touched);
  document.addEventListener("submit", (event) => { try { seen(event); } catch {} }, true);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => fill(document));
  else fill(document);

  // ---- elements ----
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { --ground: light-dark(#fff, #1c1c1f); --ink: light-dark(#1c1c1f, #f4f4f5); --muted: light-dark(#5a5a61, #b4b4bb); --line: light-dark(#d9d9de, #3c3c42); --edge: light-dark(#85858e, #85858e); --bad: light-dark(#a12c22, #f39287); display: block; font: 16px/1.5 system-ui, sans-serif }
    :host([hidden]) { display: none } :host([theme="light"]) { color-scheme: light } :host([theme="dark"]) { color-scheme: dark } :host([theme="auto"]) { color-scheme: light dark } * { box-sizing: border-box } [hidden] { display: none !important } .box { display: grid; gap: 14px; padding: 20px; border: 1px solid var(--line); border-radius: var(--honeyguide-radius, 12px); background: var(--ground); color: var(--ink); &:lang(ja) { word-break: auto-phrase } }
    h2, p, ul { margin: 0; padding: 0; list-style: none; overflow-wrap: anywhere } h2 { font-size: 1.25em; line-height: 1.3 } h3 { margin: 0; font-size: 1em } [role="status"] { display: grid; gap: 8px } h2:focus { outline: none } form { display: grid; gap: 12px } .field { display: grid; gap: 4px } label { font-weight: 600 } .check { display: grid; grid-template-columns: 20px 1fr; gap: 10px; align-items: start; font-weight: 400 } .check input { width: 20px; height: 20px; margin: 2px 0 0; accent-color: var(--accent) }
    .text { width: 100%; min-height: 44px; padding: 8px 12px; border: 1px solid var(--edge); border-radius: 8px; background: var(--ground); color: var(--ink); font: inherit } .text[aria-invalid] { border-color: var(--bad) } .button { display: inline-flex; justify-content: center; align-items: center; min-height: 44px; padding: 8px 18px; border: 1px solid var(--accent); border-radius: 8px; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer }
    .plain { min-height: 36px; padding: 4px 12px; border-color: var(--edge); background: var(--ground); color: var(--ink); font-size: 0.875em } .button[disabled] { opacity: 0.6 } a { color: var(--accent) } :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px } .small { color: var(--muted); font-size: 0.875em }
    .wrong { color: var(--bad); font-weight: 600 } .trap { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) } .row { display: flex; flex-wrap: wrap; gap: 8px } .row .text { flex: 1 1 200px; width: auto } li.reward { display: flex; gap: 12px; justify-content: space-between; align-items: center; padding: 8px 0; border-top: 1px solid var(--line) }
    .needs { flex: none; display: grid; place-items: center; min-width: 32px; height: 32px; padding: 0 8px; border-radius: 99px; background: var(--soft); color: var(--accent); font-weight: 700 } .reached .needs { background: var(--accent); color: var(--on-accent) } .what { flex: 1; [dir="rtl"] & { text-align: right } }
  `);

  const make = (tag, given, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(given || {})) {
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child != null && child !== false));
    return node;
  };

  const isColor = (text) => /^#[0-9a-f]{6}$/.test(text);
  const painted = ({ light, dark }) => {
    const own = new CSSStyleSheet();
    const pair = (name) => (isColor(light[name]) && isColor(dark[name]) ? `light-dark(${light[name]}, ${dark[name]})` : "inherit");
    own.replaceSync(`:host { --accent: var(--honeyguide-accent, ${pair("accent")}); --on-accent: var(--honeyguide-on-accent, ${pair("on_accent")}); --soft: ${pair("soft")} }`);
    return own;
  };

  class Embedded extends HTMLElement {
    get campaign() { return this.getAttribute("campaign") || settings.campaign || ""; }

    async connectedCallback() {
      if (this.shadowRoot) return;
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet];
      try {
        await this.configure();
        await this.start();
      } catch {
        this.fallBack();
        emit("error", { element: this.localName });
      }
    }

    get query() {
      const language = this.getAttribute("language");
      return language ? `?language=${encodeURIComponent(language)}` : "";
    }

    // Whoever waits for us learns after a while that we don't answer.
    post(path, fields) { return call(this.campaign, path + this.query, fields, { signal: AbortSignal.timeout(PATIENCE_MS) }); }

    async get(path, more) {
      const answer = await fetch(`${base}/embed/${encodeURIComponent(this.campaign)}/${path}`, { credentials: "omit", signal: AbortSignal.timeout(PATIENCE_MS), ...more });
      if (!answer.ok) throw new Error(answer.status);
      return answer.json();
    }

    async configure(more) {
      this.config = await this.get(`config${this.query}`, more);
      this.shadowRoot.adoptedStyleSheets = [sheet, painted(this.config.colors)];
    }

    draw(...children) {
      const { language, direction } = this.config;
      this.shadowRoot.replaceChildren(make("div", { class: "box", part: "box", lang: language, dir: direction }, ...children));
    }

    // To what the operator put inside the element.
    fallBack() { this.shadowRoot.replaceChildren(make("slot")); }

    // What comes after a form: read out, and focused because the form is gone.
    conclude({ title, lead }) {
      const heading = make("h2", { tabindex: -1 }, title);
      this.draw(make("div", { role: "status" }, heading, make("p", {}, lead)));
      heading.focus();
    }

    // A form with an email field; `send` gives the answer to what was entered.
    form(texts, path, done) {
      const shown = performance.now();
      let given = {};
      const touch = () => { if (path === "signup" && !this.hasAttribute("preview")) given = prepared(this.campaign, given); };
      const { trap, try_again } = this.config;
      const form = make("form", { novalidate: true, part: "form" });
      const input = (name, label, more) =>
        make("div", { class: "field" }, make("label", { for: name }, label), make("input", { id: name, name, class: "text", part: "input", ...more }));
      const button = make("button", { class: "button", part: "button" }, texts.button);
      form.append(
        ...[
          texts.name && input("name", texts.name, { autocomplete: "given-name", maxlength: texts.longest_name }),
          input("email", texts.email, { type: "email", required: true, autocomplete: "email", inputmode: "email", maxlength: 254, dir: "ltr" }),
          texts.consent && this.consent(texts.consent),
          make("p", { class: "trap", "aria-hidden": "true" }, make("label", {}, trap, make("input", { name: trap, tabindex: -1, autocomplete: "off" }))),
          button,
        ].filter(Boolean),
      );
      const wait = form.appendChild(make("p", { class: "small", role: "status" }));
      const tell = (errors) => {
        for (const old of form.querySelectorAll(".wrong")) old.remove();
        for (const field of form.elements) field.removeAttribute("aria-invalid");
        for (const [name, text] of Object.entries(errors)) {
          const field = name && form.elements[name];
          const note = make("p", { class: "wrong", role: "alert", id: `${name}-wrong` }, text);
          if (field) {
            field.setAttribute("aria-invalid", "true");
            field.setAttribute("aria-describedby", note.id);
            field.closest(".field").append(note);
          } else button.before(note);
        }
        form.querySelector("[aria-invalid]")?.focus();
      };
      form.addEventListener("focusin", touch);
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (this.hasAttribute("preview")) return done({});
        button.disabled = true;
        touch(); // some browsers focus no button that is clicked
        const fields = { ...Object.fromEntries(new FormData(form)), ...referral(), waited_ms: Math.round(performance.now() - shown) };
        try {
          await given.coming;
          if (given.working && !given.work) wait.textContent = texts.wait;
          await patience(given.working);
          const answer = await sendOnce(this.campaign, (all) => this.post(path, all), fields, given);
          const said = await answer.json();
          if (answer.ok) done(said, given.working && !given.work);
          else if (said.errors.consent && fields.consent) await this.again(fields.email);
          else tell(said.errors);
        } catch {
          tell({ "": try_again });
        } finally {
          button.disabled = false;
          wait.textContent = "";
        }
      });
      return form;
    }

    // The operator has changed the text that people agree to.
    async again(email) {
      await this.configure({ cache: "reload" });
      this.start();
      this.shadowRoot.getElementById("email").value = email;
    }

    consent({ id, text, privacy_url, privacy }) {
      const link = privacy_url && make("a", { href: privacy_url, target: "_blank", rel: "noopener noreferrer" }, privacy);
      const box = make("input", { type: "checkbox", name: "consent", value: id, required: true });
      return make("div", { class: "field" }, make("label", { class: "check" }, box, make("span", {}, make("bdi", {}, text), " ", link || "")));
    }
  }

  class Signup extends Embedded {
    start() {
      const texts = this.config.signup;
      const form = this.form(texts, "signup", ({ needs_confirmation }, isSlow) => {
        const { title, lead } = needs_confirmation ? texts.confirm : texts.done;
        this.conclude({ title, lead: needs_confirmation && isSlow ? `${lead} ${texts.slow}` : lead });
        if (!this.hasAttribute("preview")) emit("signup", { via: "element" });
      });
      this.draw(make("h2", {}, texts.title), texts.lead && make("p", {}, texts.lead), form, make("p", { class: "small" }, texts.small_print));
    }
  }

  // The secret of a referral page comes in the address. It is taken out of it, so that nobody shares it by accident.
  const HUB = "honeyguide-hub";
  const secret = () => {
    const address = new URL(location.href);
    const given = address.searchParams.get("hub")?.split("/").pop();
    try {
      if (!given) return sessionStorage.getItem(HUB);
      address.searchParams.delete("hub");
      history.replaceState(history.state, "", address);
      sessionStorage.setItem(HUB, given);
    } catch {} // without storage, the hub is open until the page is left
    return given;
  };

  class Hub extends Embedded {
    async start() {
      const token = this.hasAttribute("preview") ? "sample" : this.getAttribute("token") || secret();
      const answer = token && (await this.post("hub", { token }));
      if (answer?.ok) this.show(await answer.json(), token);
      else this.ask();
    }

    ask() {
      const texts = this.config.find;
      const form = this.form(texts, "find", () => this.conclude(texts.done));
      this.draw(make("h2", {}, texts.title), make("p", {}, texts.lead), form);
    }

    show(hub, token) {
      const link = make("input", { class: "text", part: "input", readonly: true, dir: "ltr", value: hub.link, "aria-label": hub.link_label });
      const copy = make("button", { class: "button", part: "button", type: "button", hidden: !navigator.clipboard, click: async () => {
        await navigator.clipboard.writeText(hub.link);
        copy.textContent = hub.copied;
        emit("share", { via: "copy" });
      } }, hub.copy);
      const ways = hub.share.map(({ name, url }) =>
        make("a", { class: "button plain", href: url, target: "_blank", rel: "noopener noreferrer", click: () => emit("share", { via: name }) }, name));
      const page = (text) => make("a", { href: `${base}/hub/${encodeURIComponent(token)}`, target: "_blank", rel: "noopener noreferrer" }, text);
      const rewards = hub.rewards.map((reward) =>
        make("li", { class: reward.is_reached ? "reward reached" : "reward" }, make("span", { class: "needs" }, reward.needs), make("bdi", { class: "what" }, reward.name), reward.can_claim ? page(reward.state) : make("span", { class: "small" }, reward.state)));
      this.draw(
        make("h2", {}, hub.title),
        make("p", {}, hub.counts),
        make("div", { class: "row" }, link, copy),
        make("div", { class: "row" }, ...ways),
        rewards.length > 0 && make("h3", {}, hub.rewards_title),
        rewards.length > 0 && make("ul", {}, ...rewards),
        make("p", { class: "small" }, page(hub.page)),
      );
      emit("hub", {});
    }
  }

  class Leaderboard extends Embedded {
    async start() {
      const query = new URLSearchParams(this.query);
      if (this.hasAttribute("preview")) query.set("sample", "1");
      const { title, people } = await this.get(`leaderboard?${query}`);
      if (!people.length) return this.fallBack();
      const lines = people.map(({ place, name, friends }) =>
        make("li", { class: "reward" }, make("span", { class: "needs" }, place), make("bdi", { class: "what" }, name), make("span", { class: "small" }, friends)));
      this.draw(make("h2", {}, title), make("ul", { role: "list" }, ...lines));
    }
  }

  window.honeyguide = Object.freeze({
    version: 5,
    referral,
    track: (email, { name = "", consent = false } = {}) =>
      report(String(email), "track", { ...(name && { name }), ...(consent && { consent: "own" }) }),
  });

  // Last, because elements that are on the page already start here.
  for (const [name, kind] of [["signup", Signup], ["hub", Hub], ["leaderboard", Leaderboard]]) customElements.define(`honeyguide-${name}`, kind);
})();
