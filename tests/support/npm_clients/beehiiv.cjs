// beehiiv's own client for its API, against the URL, key and publication given.
const assert = require("node:assert/strict");
const { BeehiivClient } = require("@beehiiv/sdk");

async function use(baseUrl, token, publication) {
  const client = new BeehiivClient({ token, baseUrl, maxRetries: 0 });
  const publications = await client.publications.index();
  assert.equal(publications.data[0].id, publication);
  const field = await client.customFields.create(publication, { kind: "string", display: "Color" });
  assert.equal(field.data.display, "Color");
  const fields = await client.customFields.index(publication);
  assert.ok(fields.data.some((each) => each.display === "Color"));
  const made = await client.subscriptions.create(publication, {
    email: "a+b@example.org",
    reactivate_existing: false,
    send_welcome_email: false,
    custom_fields: [{ name: "Color", value: "k3x9" }],
  });
  const found = await client.subscriptions.getByEmail(publication, "a+b@example.org", { "expand[]": "custom_fields" });
  assert.equal(found.data.id, made.data.id);
  assert.deepEqual(found.data.custom_fields.map((each) => each.value), ["k3x9"]);
  const left = await client.subscriptions.put(publication, made.data.id, { unsubscribe: true });
  assert.equal(left.data.status, "inactive");
  const page = await client.subscriptions.index(publication, { status: "all", limit: 100 });
  assert.deepEqual([page.data.length, page.has_more], [1, false]);
  const hook = await client.webhooks.create(publication, { url: "https://example.org", event_types: ["subscription.created"] });
  await client.webhooks.delete(publication, hook.data.id);
  await assert.rejects(client.subscriptions.getByEmail(publication, "nobody@example.org"), { statusCode: 404 });
}

use(...process.argv.slice(2)).catch((error) => { console.error(error); process.exit(1); });
