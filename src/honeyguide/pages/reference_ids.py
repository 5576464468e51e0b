"""The API reference with the UUIDs of the account that is signed in, so that its samples can be
sent as they are."""

from __future__ import annotations

from honeyguide.events import webhooks
from honeyguide.kernel.paging import Page
from honeyguide.kernel.public import EXAMPLE_IDS
from honeyguide.partners import network, payouts, program_partners, programs, publications
from honeyguide.partners.network import NetworkQuery
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.signups import signups
from honeyguide.store.reading import AccountReading, Reading
from honeyguide.subscribers import link_hosts, subscribers

_NEWEST = Page(1, 1)


def with_ids(html: str, ids: dict[str, str]) -> str:
    """The page with these UUIDs instead of the examples."""
    for thing, own in ids.items():
        html = html.replace(EXAMPLE_IDS[thing], own)
    return html


def with_link_to_keys(html: str) -> str:
    """For whoever may open that page."""
    return html.replace("<b data-keys>API keys</b>", '<a href="/account/keys">API keys</a>')


async def own_ids(at: Reading) -> dict[str, str]:
    """One of everything that the account has, the newest where there are many."""
    found: dict[str, str | None] = {"campaign": at.tenant.campaign_id}
    people, _ = await subscribers.page_of(at, "advocates", _NEWEST)
    if not people:
        people, _ = await subscribers.page_of(at, "all", _NEWEST)
    for person in people:
        found["subscriber"] = person.id
        earned, _ = await earned_rewards.some_earned_by(at, person.id)
        found["earned_reward"] = next((each.id for each in earned), None)
    found["reward"] = next((each.id for each in await rewards.of_campaign(at)), None)
    found["link_host"] = next((each.id for each in await link_hosts.of_account(at)), None)
    for thing, scope in (("webhook", at.tenant.campaign_id), ("webhook_v2", "")):
        hooks = await webhooks.of_account(at, scope)
        found[thing] = next((each.id for each in hooks), None)
    return {
        thing: own for thing, own in (found | await _partner_ids(at)).items() if own is not None
    }


async def _partner_ids(at: AccountReading) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    published, _ = await publications.page_of(at, _NEWEST)
    found["publication"] = next((each.id for each in published), None)
    offered, _ = await programs.page_of(at, _NEWEST)
    for program in offered:
        found["partner_program"] = program.id
        partners, _ = await program_partners.page_of(at.tx, program, _NEWEST)
        found["program_partner"] = next((each.id for each in partners), None)
        referred, _ = await signups.page_of_program(at, program.id, _NEWEST)
        found["partner_referral"] = next((each.id for each in referred), None)
    listed, _ = await network.page_of(at, NetworkQuery(), _NEWEST)
    found["network_program"] = next((each.id for each in listed), None)
    joined, _ = await network.page_of_partner_campaigns(at, _NEWEST)
    found["partner_campaign"] = next((each.id for each in joined), None)
    owed, _ = await payouts.page_of(at, _NEWEST)
    found["payout"] = next((each.id for each in owed), None)
    return found
