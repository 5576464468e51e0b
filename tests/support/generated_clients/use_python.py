"""Ten operations with the client that openapi-python-client generates: run with the client's folder
in PYTHONPATH, the service in BASE and the key in KEY."""

import os
from uuid import UUID

from honey_client import AuthenticatedClient
from honey_client.api.campaigns import list_campaigns
from honey_client.api.publications import create_publication
from honey_client.api.rewards import create_reward, get_reward, list_rewards, update_reward
from honey_client.api.subscribers import (
    create_subscriber,
    delete_subscriber,
    get_subscriber_status,
    list_subscribers,
    update_subscriber,
)
from honey_client.api.webhooks import create_webhook_v2
from honey_client.models import (
    ListSubscribersType,
    PublicationCreate,
    RewardCreate,
    RewardUpdate,
    SubscriberCreate,
    SubscriberUpdate,
    WebhookCreateV2,
)

client = AuthenticatedClient(
    base_url=os.environ["BASE"],
    token=os.environ["KEY"],
    prefix="",
    auth_header_name="X-Api-Key",
    raise_on_unexpected_status=True,
)
campaign = UUID(str(list_campaigns.sync(client=client).campaigns[0].uuid))
new = SubscriberCreate(email="gen@example.org", name="Gen")
ana = create_subscriber.sync(campaign, client=client, body=new).subscriber
assert ana.email == "gen@example.org"
changed = update_subscriber.sync(
    campaign, str(ana.uuid), client=client, body=SubscriberUpdate(name="Genevieve")
)
assert changed.subscriber.name == "Genevieve"
found = list_subscribers.sync(campaign, client=client, type_=ListSubscribersType.ALL)
assert "gen@example.org" in [each.email for each in found.subscribers]
assert found.meta.total_subscribers >= 1
assert get_subscriber_status.sync(campaign, str(ana.uuid), client=client).is_subscribed
mug = RewardCreate.from_dict({"name": "Mug", "referrals": 3, "kind": "physical"})
reward = create_reward.sync(campaign, client=client, body=mug).reward
easier = RewardUpdate(referrals=2)
assert update_reward.sync(campaign, reward.uuid, client=client, body=easier).reward.referrals == 2
assert get_reward.sync(campaign, reward.uuid, client=client).reward.kind == "physical"
assert reward.uuid in [each.uuid for each in list_rewards.sync(campaign, client=client).rewards]
hook = WebhookCreateV2(url="https://hooks.example.org/in", new_partner_referral=True)
assert create_webhook_v2.sync(client=client, body=hook).webhook.events.new_partner_referral
wax = PublicationCreate.from_dict(
    {
        "name": "Wax",
        "categories": ["news", "food & drink"],
        "logo": os.environ["LOGO"],
        "audience_gender": "mixed",
        "income_levels": ["$150k+"],
        "age_ranges": ["60+"],
    }
)
made = create_publication.sync(client=client, body=wax).publication
assert made.categories == ["news", "food & drink"]
assert delete_subscriber.sync(campaign, str(ana.uuid), client=client).message
print("done")
