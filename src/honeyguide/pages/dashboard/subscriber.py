"""One person: who they are, how they came, what was decided and why, whom they brought, what they earned."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.paging import Page
from honeyguide.mail import emails
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard import subscribers as listed
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.downloads import attachment
from honeyguide.partners.rules import Uncharged
from honeyguide.referrals import earned_rewards, explanations, hub, rules, search, subscribers
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.signups import privacy, signups
from honeyguide.store.tx import Tx

BROUGHT = 20


class Moment(NamedTuple):
    at_ms: int
    kind: str  # good, bad or neither
    words: str
    detail: str = ""


class Sign(NamedTuple):
    """A signal of screening: what was looked at, what was found, and whether that speaks against it."""

    name: str
    found: str
    is_bad: bool


async def show(request: PageRequest) -> Response:
    wanted = request.at("id")
    if not is_id(wanted):
        raise Missing(subscribers.UNKNOWN)

    async def look(tx: Tx) -> dict[str, Any]:
        person = await subscribers.get(tx, request.tenant, wanted)
        brought, total = await subscribers.page_of_brought(
            tx, request.tenant, person, Page(1, BROUGHT)
        )
        return {
            "person": person,
            "referrer": await subscribers.find(tx, request.tenant, person.referrer_id)
            if person.referrer_id
            else None,
            "explained": await explanations.explain(
                tx, request.services.site, request.tenant, wanted
            )
            if person.referrer_code
            else None,
            "sent_by": await signups.find_sender(tx, request.tenant.account_id, person.id)
            if person.partner_campaign_id
            else None,
            "brought": await search.of_ids(tx, request.tenant, [row.id for row in brought]),
            "brought_total": total,
            "earned": await earned_rewards.earned_by(tx, request.tenant, person.id),
            "letters": await emails.of_person(tx, request.tenant.account_id, person.id),
        }

    found = await request.read(look)
    person: Subscriber = found["person"]
    return await request.page(
        "subscriber.html",
        **found,
        story=_story(found),
        signs=_signs(found["explained"]),
        link=request.services.site.reader_link(person.ref_code),
        hub=hub.link(request.services.site, person),
        money=money.show,
        uncharged=Uncharged,
    )


def _story(found: dict[str, Any]) -> list[Moment]:
    """The latest first."""
    person: Subscriber = found["person"]
    through = found["referrer"]
    came = f"Referred by {through.name or through.email}; joined" if through else "Joined"
    if person.referrer_code and not through:
        sent_by: signups.SentBy | None = found["sent_by"]
        came = f"Referred by {sent_by.partner_name if sent_by else 'a deleted subscriber'}; joined"
    origin = {
        "api": "through the API",
        "import": "by import",
        "signup": "on your signup page",
        "magic": "with a magic link",
    }.get(person.origin, person.origin)
    story = [
        Moment(
            person.created_ms,
            "",
            f"{came} {origin}.",
            " · ".join(filter(None, (person.utm_source, person.utm_campaign))),
        )
    ]
    if person.decided_ms is not None:
        word = {"verified": "verified", "rejected": "rejected", "pending": "set to pending"}[
            person.referral_status
        ]
        by = (
            " by you"
            if person.decided_by == listed.BY
            else " through the API"
            if person.decided_by == "api"
            else ""
        )
        kind = {"verified": "good", "rejected": "bad"}.get(person.referral_status, "")
        story.append(Moment(person.decided_ms, kind, f"The referral was {word}{by}.", _why(person)))
    for earned in found["earned"]:
        story.append(
            Moment(
                earned.earned_ms,
                "good",
                f"Earned {earned.name} for {formats.plural(earned.referrals * earned.multiple, 'referral')}.",
            )
        )
        if earned.redeemed_ms:
            verb = "Claimed" if earned.redeemed_by == earned_rewards.READER else "Received"
            story.append(Moment(earned.redeemed_ms, "good", f"{verb} {earned.name}."))
    for friend in found["brought"][:8]:
        kind = {"verified": "good", "rejected": "bad"}.get(friend.referral_status, "")
        story.append(Moment(friend.created_ms, kind, f"Referred {friend.name or friend.email}."))
    for letter in found["letters"]:
        story.append(
            Moment(
                letter.created_ms,
                "",
                f"Email: {letter.subject or 'erased'}",
                formats.email_state(letter.status),
            )
        )
    return sorted(story, key=lambda moment: moment.at_ms, reverse=True)[:60]


def _why(person: Subscriber) -> str:
    return (
        rules.explain(person.referral_reason, person.referral_due_ms)
        if person.referral_reason
        else ""
    )


def _yes_or_no(name: str, is_so: bool) -> Sign:
    return Sign(name, "yes" if is_so else "no", is_so)


def _signs(explained: explanations.Explained | None) -> list[Sign]:
    if explained is None:
        return []
    told = explained.signals
    return [
        _yes_or_no("Referrer's own email address", told.own_address),
        _yes_or_no("Alias of the referrer's email address", told.alias_of_referrer),
        _yes_or_no("Circular referral", told.referral_loop),
        _yes_or_no("Disposable email address", told.disposable_domain),
        _yes_or_no("Same IP address as the referrer within a day", told.same_network_as_referrer),
        Sign(
            "Signups from that IP address that day",
            str(told.signups_from_network_that_day),
            told.signups_from_network_that_day > rules.MOST_FROM_ONE_NETWORK,
        ),
        Sign(
            "Signups on that link that hour",
            str(told.signups_on_code_that_hour),
            told.signups_on_code_that_hour > rules.MOST_ON_ONE_CODE,
        ),
    ]


async def decide(request: PageRequest) -> Response:
    verdict = request.text("do")
    if verdict not in ("verify", "reject", "erase"):
        raise Missing("Page not found.")
    wanted = request.at("id")
    await request.read(lambda tx: subscribers.get(tx, request.tenant, wanted))
    _, refusal = await listed.decide_each(request, [wanted], verdict)
    result = {
        "verify": "Referral verified.",
        "reject": "Referral rejected.",
        "erase": "Subscriber erased.",
    }[verdict]
    return request.go(
        "/subscribers" if verdict == "erase" else f"/subscribers/{wanted}", refusal or result
    )


async def export(request: PageRequest) -> Response:
    async def look(tx: Tx) -> dict[str, Any]:
        return await privacy.export_person(
            tx, request.tenant, await subscribers.get(tx, request.tenant, request.at("id"))
        )

    found = await request.read(look)
    text = json.dumps(found, indent=2, ensure_ascii=False)
    return Response(
        text,
        media_type="application/json; charset=utf-8",
        headers=attachment(f"{request.at('id')}.json"),
    )


async def redeem(request: PageRequest) -> Response:
    """The operator hands a reward over, or agrees to it."""
    wanted, site, by = request.text("earned"), request.services.site, listed.BY

    async def work(tx: Tx) -> None:
        verb = earned_rewards.approve if request.text("do") == "approve" else earned_rewards.redeem
        await verb(
            tx, site, request.tenant, wanted, by=by, now_ms=request.now_ms, of=request.at("id")
        )

    await request.write(work)
    result = "Reward approved." if request.text("do") == "approve" else "Reward marked as redeemed."
    return request.go(f"/subscribers/{request.at('id')}", result)
