// While a link is flooded, its form asks the browser for some work (ALTCHA's protocol), and its email goes first. The work begins when the
// page is shown. Where it fails or takes too long, the form is sent without it, as without scripts.
const PATIENCE_MS = 15000;

const solve = async (challenge, source) => {
  const steps = Math.min(4, navigator.hardwareConcurrency || 1);
  const workers = Array.from({ length: steps }, () => new Worker(source));
  try {
    return await new Promise((resolve, reject) => {
      for (const [start, worker] of workers.entries()) {
        worker.onerror = reject;
        worker.onmessage = ({ data }) => (data?.derivedKey ? resolve(data) : reject());
        worker.postMessage({ type: "work", challenge, counterStart: start, counterStep: steps });
      }
    });
  } finally {
    for (const worker of workers) worker.terminate();
  }
};

for (const field of document.querySelectorAll("[data-challenge]")) {
  const { form } = field;
  const challenge = JSON.parse(field.dataset.challenge);
  let isOver = false;
  let isWaiting = false;
  const work = (async () => {
    try {
      const solution = await solve(challenge, field.dataset.worker);
      field.value = btoa(JSON.stringify({ challenge, solution }));
    } catch {}
    isOver = true;
  })();
  const status = Object.assign(document.createElement("p"), { className: "muted small" });
  status.setAttribute("role", "status");
  form.append(status);
  form.addEventListener("submit", async (event) => {
    if (isOver) return;
    event.preventDefault();
    if (isWaiting) return;
    isWaiting = true;
    status.textContent = field.dataset.wait;
    await Promise.race([work, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
    isOver = true;
    form.requestSubmit();
  });
}
