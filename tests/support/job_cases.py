"""For every job that goes through rows or accounts: how two accounts get work for it, with the
oddest data that the API accepts, and what of it the database may refuse.
"""

from functools import partial

from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import checking
from tests.support.job_referrals import (
    ODD,
    come_with_codes,
    delay_decisions,
    end_floods,
    find_values,
    hold_emails,
    hold_referrals,
    keep_earlier_keys,
    keep_old_evidence,
    never_confirm,
    subscribe,
)
from tests.support.job_work import (
    ask_for_hosts,
    ask_to_close,
    await_looks,
    begin_terms,
    change_rates,
    change_terms,
    close_long_ago,
    close_month,
    count_attempts,
    decide_today,
    due_weeklies,
    earn,
    empty_search_texts,
    let_keys_expire,
    mark_days,
    notices,
    offer_late,
    pay_out,
    queue_emails,
    queue_for_slack,
    refuse_readers,
    restock,
    send_rewards,
    ship,
    spend_budgets,
    start_imports,
)
from tests.support.job_world import Case, World, no_rows, old_rows, purge, rows
from tests.support.web import operator, upload


def begin_checks(world: World) -> None:
    world.both = tuple(operator(world.service) for _ in world.both)
    imports = []
    for who in world.both:
        import_id = upload(who, f"email,name\n{new_id()}@example.org,{ODD['name'][:20]!r}\n")
        who.web.post(f"/subscribers/import/{import_id}", do="start", email="0", name="1")
        imports.append((who, import_id))
    world.run("import uploaded files")
    for who, import_id in imports:
        begin = partial(
            checking.begin,
            tenant=Tenant(who.account_id, who.campaign_id),
            import_id=import_id,
            now_ms=system_clock(),
        )
        world.service.write(begin)


def begin_fetches(world: World) -> None:
    """With keys that cannot be decrypted, which is a problem to record."""
    for who in world.both:
        import_id = new_id()
        world.do(
            "INSERT INTO import (id, account_id, campaign_id, file_name, header, mapping, total, "
            "created_ms) VALUES (:id, :who, :campaign, 'x', '[]', '{}', 0, 1)",
            id=import_id,
            who=who.account_id,
            campaign=who.campaign_id,
        )
        world.do(
            "INSERT INTO remote_fetch (import_id, account_id, base_url, secret, stage, created_ms) "
            "VALUES (:id, :who, 'http://127.0.0.1:1', 'x', 'people', 1)",
            id=import_id,
            who=who.account_id,
        )


CASES = {
    "compare imports with their files": Case(
        begin_checks,
        "UPDATE",
        "certificate",
        "NEW.account_id = '{id}'",
        rows("certificate", "AND made_ms IS NOT NULL"),
    ),
    "close accounts": Case(
        ask_to_close,
        "UPDATE",
        "account",
        "NEW.id = '{id}' AND NEW.closed_ms IS NOT NULL",
        lambda world, who: bool(
            world.ask("SELECT 1 FROM account WHERE id = :id AND emptied_ms > 0", id=who.account_id)
        ),
    ),
    "forget accounts that were closed years ago": Case(
        close_long_ago,
        "UPDATE",
        "account",
        "NEW.id = '{id}' AND NEW.forgotten_ms IS NOT NULL",
        lambda world, who: bool(
            world.ask("SELECT 1 FROM account WHERE id = :id AND email = ''", id=who.account_id)
        ),
    ),
    "check link hosts": Case(
        ask_for_hosts,
        "UPDATE",
        "link_host",
        "NEW.account_id = '{id}'",
        rows("link_host", "AND checked_ms IS NOT NULL"),
    ),
    "update the page index": Case(
        subscribe, "INSERT", "listing", "NEW.account_id = '{id}'", rows("listing")
    ),
    "apply delayed actions": Case(
        delay_decisions,
        "UPDATE",
        "subscriber",
        "NEW.account_id = '{id}' AND NEW.referral_status = 'rejected'",
        rows("subscriber", "AND referral_status = 'rejected'"),
    ),
    "release confirmation emails that wait": Case(
        hold_emails,
        "UPDATE",
        "letter",
        "NEW.account_id = '{id}' AND OLD.held_code IS NOT NULL",
        rows("letter", "AND kind = 'confirm' AND held_code IS NULL"),
    ),
    "find flooded accounts": Case(
        end_floods,
        "DELETE",
        "flooded_account",
        "OLD.account_id = '{id}'",
        no_rows("flooded_account"),
    ),
    "count who joined on each day": Case(
        mark_days, "INSERT", "cohort_count", "NEW.account_id = '{id}'", rows("cohort_count")
    ),
    "give subscribers their new person keys": Case(
        keep_earlier_keys,
        "UPDATE",
        "subscriber",
        "NEW.account_id = '{id}' AND NEW.person_key <> OLD.person_key",
        no_rows("person_rekeying"),
    ),
    "give added coupon codes to waiting advocates": Case(
        restock,
        "UPDATE",
        "won_reward",
        "NEW.account_id = '{id}'",
        rows("won_reward", "AND coupon_code IS NOT NULL"),
    ),
    "send budget notifications": Case(
        spend_budgets,
        "INSERT",
        "notice",
        "NEW.account_id = '{id}'",
        rows("budget", "AND told_nearly_ms IS NOT NULL"),
    ),
    "tell partners of changed terms": Case(
        change_terms, "DELETE", "term_change", "OLD.account_id = '{id}'", no_rows("term_change")
    ),
    "ask owners to look at new partners": Case(
        await_looks,
        "INSERT",
        "first_look",
        "NEW.account_id = '{id}'",
        rows("first_look", "AND asked_ms IS NOT NULL"),
    ),
    "refuse readers of a first look": Case(
        refuse_readers,
        "UPDATE",
        "subscriber",
        "NEW.account_id = '{id}' AND NEW.status = 'unsubscribed'",
        rows("subscriber", "AND status = 'unsubscribed'"),
    ),
    "begin changed terms of programs": Case(
        begin_terms,
        "UPDATE",
        "program",
        "NEW.account_id = '{id}' AND NEW.cpa_cents = 7",
        rows("program", "AND cpa_cents = 7"),
    ),
    "close months and create payouts": Case(
        earn, "INSERT", "payout", "NEW.account_id = '{id}'", rows("payout")
    ),
    "notify of keys that expire": Case(
        let_keys_expire,
        "INSERT",
        "notice",
        "NEW.account_id = '{id}'",
        rows("api_key", "AND warned_ms IS NOT NULL"),
    ),
    "store the digests of closed months": Case(
        close_month,
        "INSERT",
        "month_digest",
        "NEW.account_id = '{id}'",
        rows("month_digest", "AND month = '2020-03'"),
    ),
    "send payout notifications": Case(
        pay_out,
        "INSERT",
        "notice",
        "NEW.account_id = '{id}'",
        rows("notice", "AND once_key = 'payout_due:2020-02'"),
    ),
    "post notifications to Slack": Case(
        queue_for_slack,
        "UPDATE",
        "slack_message",
        "NEW.account_id = '{id}'",
        rows("slack_webhook", "AND error IS NOT NULL"),
    ),
    "update confirmation rates": Case(
        change_rates,
        "UPDATE",
        "program",
        "NEW.account_id = '{id}' AND OLD.confirmation_bp = 5",
        no_rows("program", "AND confirmation_bp = 5"),
    ),
    "count the public figures of programs": Case(
        decide_today,
        "INSERT",
        "program_figures",
        "NEW.account_id = '{id}'",
        rows("program_figures", "AND verified = 0"),
    ),
    "purge old attempt counts": Case(
        count_attempts,
        "DELETE",
        "attempt_count",
        "OLD.subject = '{id}'",
        lambda world, who: (
            not world.ask("SELECT 1 FROM attempt_count WHERE subject = :id", id=who.account_id)
        ),
    ),
    "remove postal addresses after sending": Case(
        ship,
        "UPDATE",
        "won_reward",
        "NEW.account_id = '{id}'",
        no_rows("won_reward", "AND shipping IS NOT NULL"),
    ),
    "tell subscribers what was sent": Case(
        send_rewards,
        "UPDATE",
        "won_reward",
        "NEW.account_id = '{id}' AND OLD.announce_ms IS NOT NULL",
        rows("letter", "AND kind = 'shipment_sent'"),
    ),
    "import uploaded files": Case(
        start_imports,
        "UPDATE",
        "import",
        "NEW.account_id = '{id}'",
        rows("import", "AND status = 'done'"),
    ),
    "adopt what another tool wrote to a platform": Case(
        find_values,
        "UPDATE",
        "adoption_value",
        "NEW.account_id = '{id}'",
        no_rows("adoption_value", "AND state = 'found'"),
    ),
    "fetch from another service": Case(
        begin_fetches,
        "UPDATE",
        "remote_fetch",
        "NEW.account_id = '{id}'",
        rows("remote_fetch", "AND is_stopped = 1"),
    ),
    "verify referrals after their holding period": Case(
        hold_referrals,
        "UPDATE",
        "subscriber",
        "NEW.account_id = '{id}' AND NEW.referral_status = 'verified'",
        rows("subscriber", "AND referral_status = 'verified' AND referrer_code IS NOT NULL"),
    ),
    "look at what referrals have in common": Case(
        come_with_codes,
        "DELETE",
        "code_look",
        "OLD.account_id = '{id}'",
        no_rows("code_look"),
    ),
    "reject unconfirmed referrals": Case(
        never_confirm,
        "UPDATE",
        "subscriber",
        "NEW.account_id = '{id}' AND NEW.referral_status = 'rejected'",
        rows("subscriber", "AND referral_reason = 'unconfirmed'"),
    ),
    "grant new rewards to advocates who already qualify": Case(
        offer_late, "INSERT", "won_reward", "NEW.account_id = '{id}'", rows("won_reward")
    ),
    "send emails": Case(
        queue_emails,
        "UPDATE",
        "letter",
        "NEW.account_id = '{id}'",
        rows("letter", "AND sent_ms IS NOT NULL AND kind = 'test'"),
    ),
    "send digests of notifications": Case(
        notices,
        "UPDATE",
        "notice",
        "NEW.account_id = '{id}'",
        no_rows("notice", "AND digest_due_ms IS NOT NULL"),
    ),
    "send weekly summaries": Case(
        due_weeklies,
        "UPDATE",
        "account",
        "OLD.id = '{id}'",
        lambda world, who: (
            world.ask("SELECT weekly_due_ms FROM account WHERE id = :id", id=who.account_id)
            != [(1,)]
        ),
    ),
    "fill in search texts after an upgrade": Case(
        empty_search_texts,
        "UPDATE",
        "publication",
        "NEW.account_id = '{id}' AND NEW.search_text <> ''",
        no_rows("publication", "AND search_text = ''"),
    ),
    "purge old imports": purge(
        "import",
        id="ID",
        campaign_id="ID",
        file_name="🐝.csv",
        header="[]",
        mapping="{}",
        status="done",
        total=1,
        created_ms=1,
    ),
    "purge expired sessions and invitations": Case(
        old_rows("session", id="ID", digest="ID", created_ms=1, seen_ms=1),
        "DELETE",
        "session",
        "OLD.account_id = '{id}'",
        no_rows("session", "AND created_ms = 1"),
    ),
    "purge idempotency keys": purge(
        "idempotency", idempotency_key="ID", fingerprint="x", created_ms=1
    ),
    "purge old emails": Case(
        old_rows("letter", id="ID", kind="old", body_text="\u202e", waited_for=0, created_ms=1),
        "UPDATE",
        "letter",
        "NEW.account_id = '{id}' AND OLD.kind = 'old'",
        no_rows("letter", "AND kind = 'old' AND body_text IS NOT NULL"),
    ),
    "purge old events": purge("event", id="ID", type="new_referral", body="{}", created_ms=1),
    "delete what was kept about disconnected platforms": purge(
        "disconnected_integration", id="ID", campaign_id="ID"
    ),
    "purge old webhooks of email platforms": purge(
        "integration_event", id="ID", integration_id="ID", digest="ID", received_ms=1
    ),
    "purge old visitor hashes": purge("click", target_id="ID", code="🐝", hour_ms=1, visitor="ID"),
    "purge used forms": purge(
        "used_form", token_hash="ID", campaign_id="ID", mailbox_hash="ID", used_ms=1
    ),
    "forget the values of old evidence": Case(
        keep_old_evidence,
        "UPDATE",
        "evidence",
        "NEW.account_id = '{id}'",
        no_rows("evidence", "AND value IS NOT NULL"),
    ),
    "purge the old change log": Case(
        old_rows(
            "change_log",
            id="ID",
            actor_kind="job",
            actor_id="🐝",
            action="reward.changed",
            subject_id="ID",
            changed_ms=1,
        ),
        "DELETE",
        "change_log",
        "OLD.account_id = '{id}'",
        no_rows("change_log", "AND changed_ms = 1"),
    ),
    "purge old records of erasures": purge(
        "erasure", id="ID", campaign_id="ID", subscriber_id="ID", person_key="x", erased_ms=1
    ),
}
