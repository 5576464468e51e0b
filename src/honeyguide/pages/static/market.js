// Conveniences of the partner pages; everything works without them.

// A chosen logo is shown at once.
for (const input of document.querySelectorAll("input[data-shows]")) {
  input.addEventListener("change", () => {
    const picture = document.getElementById(input.dataset.shows);
    const file = input.files[0];
    if (!file) return;
    const reader = new FileReader();
    reader.onload = () => { picture.src = reader.result; picture.hidden = false; };
    reader.readAsDataURL(file);
  });
}

// What a month could cost, as the offer is typed: the same sums as on the program's page.
const form = document.querySelector("form[data-simulate]");
const guess = document.querySelector("[data-guess]");
if (form && guess) {
  const cents = (name) => Math.round(Number((form.elements[name]?.value || "").replace(/[$,\s]/g, "")) * 100);
  const dollars = (amount) => (amount / 100).toLocaleString("en-US", { style: "currency", currency: "USD" });
  const show = () => {
    const fee = cents("cpa"), most = cents("max_payout"), budget = cents("total_budget");
    const readers = Math.max(0, Math.floor(Number(guess.querySelector('[name="readers"]').value) || 0));
    const partners = Math.max(1, Math.floor(Number(guess.querySelector('[name="partners"]').value) || 1));
    const cost = guess.querySelector("[data-cost]"), why = guess.querySelector("[data-why]");
    if (![fee, most, budget].every(Number.isFinite)) { cost.textContent = "–"; why.textContent = "An amount is not a number."; return; }
    const each = Math.floor(readers / partners);
    const underCap = fee ? Math.min(each, Math.floor(most / fee)) * partners : readers;
    const paid = fee ? Math.min(underCap, Math.floor(budget / fee)) : readers;
    cost.textContent = dollars(paid * fee);
    why.textContent = `for ${paid.toLocaleString("en-US")} of ${readers.toLocaleString("en-US")} readers` + (paid < underCap ? "; the budget holds back the rest" : underCap < each * partners ? "; what one partner can earn holds back the rest" : "");
  };
  form.addEventListener("input", show);
  guess.addEventListener("input", show);
  show();
}

// Printing needs a browser that can.
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
