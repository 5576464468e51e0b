// Ten operations with the types that openapi-typescript generates, through openapi-fetch.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { env: Record<string, string> };

const client = createClient<paths>({
  baseUrl: process.env.BASE,
  headers: { "X-Api-Key": process.env.KEY },
});

function given<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}
function check(is: boolean, what: string): void {
  if (!is) throw new Error(what);
}

const { campaigns } = given(await client.GET("/v1/campaigns", {}));
const campaign_uuid = campaigns[0].uuid;
const all = { params: { path: { campaign_uuid } } };

const ana: components["schemas"]["SavedSubscriber"] = given(
  await client.POST("/v1/campaigns/{campaign_uuid}/subscribers", { ...all, body: { email: "ts@example.org" } }),
).subscriber;
const one = { params: { path: { campaign_uuid, uuid: ana.uuid } } };
const changed = given(await client.PUT("/v1/campaigns/{campaign_uuid}/subscribers/{uuid}", { ...one, body: { name: "Tess" } }));
check(changed.subscriber.name === "Tess", "update");
const listed = given(
  await client.GET("/v1/campaigns/{campaign_uuid}/subscribers", {
    params: { path: { campaign_uuid }, query: { type: "all", per_page: 200 } },
  }),
);
check(listed.subscribers.some((each) => each.uuid === ana.uuid) && listed.meta.total_subscribers > 0, "list");
const status = given(await client.GET("/v1/campaigns/{campaign_uuid}/subscribers/{uuid}/status", one));
check(status.is_subscribed && status.status === "active", "status");

const reward = given(
  await client.POST("/v1/campaigns/{campaign_uuid}/rewards", {
    ...all,
    body: { name: "Recipes", referrals: 3, kind: "link", link: "https://wax.example.org/recipes" },
  }),
).reward;
const prize = { params: { path: { campaign_uuid, uuid: reward.uuid } } };
const easier = given(await client.PUT("/v1/campaigns/{campaign_uuid}/rewards/{uuid}", { ...prize, body: { referrals: 2 } }));
check(easier.reward.referrals === 2, "reward");
check(given(await client.GET("/v1/campaigns/{campaign_uuid}/rewards", all)).rewards.length > 0, "rewards");

const hook = given(
  await client.POST("/v2/webhooks", { body: { url: "https://hooks.example.org/ts", reward_redeemed: true } }),
).webhook;
check(hook.events.reward_redeemed === true, "webhook");

const publication = given(
  await client.POST("/v2/publications", {
    body: {
      name: "Wax",
      categories: ["news", "food & drink"],
      logo: process.env.LOGO,
      audience_gender: "mixed",
      income_levels: ["$150k+"],
      age_ranges: ["60+"],
    },
  }),
).publication;
check(publication.categories.includes("food & drink"), "publication");

check(given(await client.DELETE("/v1/campaigns/{campaign_uuid}/subscribers/{uuid}", one)).message.length > 0, "delete");
console.log("done");
