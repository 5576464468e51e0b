// Ghost's own client for its Admin API, against the URL and key given.
const assert = require("node:assert/strict");
const GhostAdminAPI = require("@tryghost/admin-api");

async function use(url, key) {
  const api = new GhostAdminAPI({ url, key, version: "v5.0" });
  const site = await api.site.read();
  assert.equal(site.title, "Wax");
  const newsletters = await api.newsletters.browse({ limit: 100 });
  const newsletter = newsletters.find((each) => each.status === "active");
  const made = await api.members.add({
    email: "o'brien@example.org",
    name: "",
    labels: [{ name: "VIP" }],
    newsletters: [{ id: newsletter.id }],
  });
  assert.deepEqual(made.labels.map((each) => each.name), ["VIP"]);
  const [found] = await api.members.browse({ filter: "email:'o\\'brien@example.org'", include: "newsletters,labels" });
  assert.equal(found.id, made.id);
  const changed = await api.members.edit({ id: made.id, labels: [{ name: "Advocate" }] });
  assert.deepEqual(changed.labels.map((each) => each.name), ["Advocate"]);
  assert.equal((await api.members.read({ id: made.id })).email, "o'brien@example.org");
  const hook = await api.webhooks.add({ event: "member.added", target_url: "https://example.org", name: "Hook" });
  await api.webhooks.delete({ id: hook.id });
  await assert.rejects(api.members.read({ id: "f".repeat(24) }), { type: "NotFoundError" });
}

use(...process.argv.slice(2)).catch((error) => { console.error(error); process.exit(1); });
