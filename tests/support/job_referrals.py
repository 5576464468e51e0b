"""How two accounts get referrals that a job has work with."""

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.signups import delayed_actions, delayed_kinds
from tests.support import partner_network
from tests.support.held_emails import held_code
from tests.support.job_world import World

ODD = {
    "name": "=HYPERLINK(1)\t\u202e\u05de\u05e6\u05d1 \U0001f469\u200d\U0001f467 Z\u0351\u036b "
    + "\u00e9" * 90,
    "utm_source": "a/b?c=d&e=%00'\";--" + "\u00fc" * 50,
    "utm_campaign": "\u200f\u0639\u0631\u0628\u0649 \\u0000 \U0001f41d",
    "created_at": "0001-01-01T00:00:00Z",
}


def subscribe(world: World) -> None:
    for who in world.both:
        who.subscribe(f"{new_id()}@example.org", **ODD)


def find_values(world: World) -> None:
    """What another tool wrote to a platform, to be adopted."""
    for who in world.both:
        person = who.subscribe(f"{new_id()}@example.org", **ODD)
        world.do(
            "INSERT INTO integration (id, account_id, campaign_id, platform, status, credentials, "
            "key_hint, audience_id, audience_name, field_names, code_field, adds_existing, "
            "hook_key, created_ms, adoption, adoption_answer) VALUES (:id, :id, :campaign, "
            "'mailchimp', 'paused', '', '', '', '', '{}', '', 0, :id, 1, 'adopting', 'adopt')",
            id=who.account_id,
            campaign=who.campaign_id,
        )
        world.do(
            "INSERT INTO adoption_value (integration_id, subscriber_id, account_id, code, "
            "code_field, link_field, referrals, others, state) "
            "VALUES (:id, :person, :id, :code, 'X', '', '7', 0, 'found')",
            id=who.account_id,
            person=person["uuid"],
            code=ODD["name"],
        )


def hold_referrals(world: World) -> None:
    for who in world.both:
        ana = who.subscribe(f"{new_id()}@example.org", **ODD)
        who.subscribe(f"{new_id()}@example.org", referrer_code=ana["ref_code"])
        world.do(
            "UPDATE subscriber SET referral_status = 'pending', referral_due_ms = 1 "
            "WHERE account_id = :id AND referrer_code IS NOT NULL",
            id=who.account_id,
        )


def keep_old_evidence(world: World) -> None:
    for who in world.both:
        person = who.subscribe(f"{new_id()}@example.org", **ODD)
        world.do(
            "INSERT INTO evidence (subscriber_id, code, account_id, campaign_id, points, value, "
            "found_ms) VALUES (:person, 'no_click', :id, :campaign, 1, :value, 1)",
            person=person["uuid"],
            id=who.account_id,
            campaign=who.campaign_id,
            value=ODD["name"],
        )
        world.do("UPDATE subscriber SET received_ms = 1 WHERE id = :person", person=person["uuid"])


def come_with_codes(world: World) -> None:
    hold_referrals(world)
    world.do("UPDATE subscriber SET referral_due_ms = 9999999999999")
    for who in world.both:
        people = who.get(f"{who.v1}/subscribers").json()["subscribers"]
        code = next(each["referrer_code"] for each in people if each["referrer_code"])
        world.do(
            "INSERT INTO code_look (campaign_id, code, account_id, since_ms) "
            "VALUES (:campaign, :code, :id, 1)",
            campaign=who.campaign_id,
            code=code,
            id=who.account_id,
        )


def never_confirm(world: World) -> None:
    for who in world.both:
        program = partner_network.offer(who)
        partner = partner_network.join(world.service.member(), program)
        who.subscribe(f"{new_id()}@example.org", referrer_code=partner["ref_code"])
        world.do(
            "UPDATE subscriber SET referral_status = 'pending', received_ms = 1, "
            "referral_reason = 'awaiting_confirmation' "
            "WHERE account_id = :id AND partner_campaign_id IS NOT NULL",
            id=who.account_id,
        )
        world.do(
            "UPDATE partner_referral SET rule = 'confirmed', screening = 'strong', arrived_ms = 1, "
            "hold_until_ms = 1 WHERE account_id = :id",
            id=who.account_id,
        )


def delay_decisions(world: World) -> None:
    """Referrals whose holding period has ended: the decision comes first."""
    hold_referrals(world)
    for who in world.both:
        people = who.get(f"{who.v1}/subscribers").json()["subscribers"]
        referred = [each["uuid"] for each in people if each["referrer_code"]]
        who.make(delayed_actions.delay, delayed_kinds.REJECT, referred)
    world.do("UPDATE delayed_action SET due_ms = 1")


def hold_emails(world: World) -> None:
    for who in world.both:
        held_code(who)
    world.do("UPDATE confirmation_brake SET look_ms = 1")


def end_floods(world: World) -> None:
    """Accounts that were flooded once."""
    for who in world.both:
        world.do(
            "INSERT INTO flooded_account (account_id, since_ms) VALUES (:id, 1)", id=who.account_id
        )


def keep_earlier_keys(world: World) -> None:
    """A subscriber whose key is the one of an earlier version."""
    for who in world.both:
        email = f"{new_id()}.{new_id()}@proton.me"
        who.subscribe(email)
        earlier = world.service.services.site.person_keys(EmailAddress(email))[1]
        world.do(
            "UPDATE subscriber SET person_key = :key WHERE account_id = :id",
            key=earlier,
            id=who.account_id,
        )
        world.do(
            "INSERT INTO person_rekeying (campaign_id, account_id) VALUES (:campaign, :id)",
            campaign=who.campaign_id,
            id=who.account_id,
        )
