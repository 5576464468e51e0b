// How many are selected, of which rewards. Without this the buttons say the same without numbers.
const boxes = [...document.querySelectorAll('input[name="id"][data-reward]')];
const rewards = document.querySelector("[data-rewards]");
const counts = document.querySelectorAll("[data-count]");

function count() {
  const chosen = new Map();
  for (const box of boxes) if (box.checked) chosen.set(box.dataset.reward, (chosen.get(box.dataset.reward) || 0) + 1);
  const total = [...chosen.values()].reduce((sum, n) => sum + n, 0);
  if (rewards) rewards.textContent = [...chosen].map(([name, n]) => `${n} × ${name}`).join(", ");
  for (const place of counts) place.textContent = total ? `${place.closest(".csv") ? " of" : ""} ${total}` : "";
}

document.addEventListener("change", count);
count();
