"""`verify` notices every row that belongs to another account than the row it is part of. The rows
are those of the demo, which has something of almost everything.
"""

from collections.abc import Iterator

import pytest

from honeyguide.kernel.errors import Missing
from honeyguide.partners import ledger_check
from honeyguide.store.tx import Tx
from tests.partners.test_ledger_damage import disarm
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement
from tests.upgrades import early_database

# Part of nothing but the account, which a foreign key proves. An account has one campaign.
OF_THE_ACCOUNT = {
    "api_key",
    "campaign",
    "click_source",
    "flooded_account",
    "session",
    "ticket",
    "notice",
    "notification_choice",
    "partner_block",
    "slack_webhook",
    "slack_message",
    "moved_document",
    "month_digest",
}
# What the demo has none of, for the oldest account, which has a campaign.
CAMPAIGN = "FROM campaign AS c WHERE c.account_id = (SELECT MIN(id) FROM account)"
KEY = "INSERT INTO api_key (id, account_id, name, digest, prefix, created_ms, replaced_by)"
PLANTED = [
    f"{KEY} SELECT 'new key', account_id, 'x', 'new', 'x', 1, NULL {CAMPAIGN}",
    f"{KEY} SELECT 'old key', account_id, 'x', 'old', 'x', 1, 'new key' {CAMPAIGN}",
    f"{KEY} SELECT 'their key', MAX(id), 'x', 'their', 'x', 1, NULL FROM account",
    f"INSERT INTO idempotency SELECT account_id, 'key', 'x', 200, '', NULL, 1 {CAMPAIGN}",
    "INSERT INTO import (id, account_id, campaign_id, file_name, header, mapping, total, "
    f"created_ms) SELECT 'i', account_id, id, 'x', '', '', 1, 1 {CAMPAIGN}",
    f"INSERT INTO import_part SELECT 'i', 1, account_id, '' {CAMPAIGN}",
    "INSERT INTO certificate (id, account_id, campaign_id, import_id, tally, started_ms) "
    f"SELECT 'c', account_id, id, 'i', '{{}}', 1 {CAMPAIGN}",
    f"INSERT INTO import_error SELECT 'i', 1, account_id, 'x', '' {CAMPAIGN}",
    f"INSERT INTO import_finding SELECT 'i', 1, 'loop', account_id, NULL {CAMPAIGN}",
    "INSERT INTO import_own_id SELECT 'i', 'x', account_id, MIN(id) "
    f"FROM subscriber WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id",
    "INSERT INTO remote_fetch (import_id, account_id, base_url, stage, created_ms) "
    f"SELECT 'i', account_id, 'x', 'people', 1 {CAMPAIGN}",
    f"INSERT INTO fetched_person SELECT 'i', 'x', account_id {CAMPAIGN}",
    "INSERT INTO moved_document SELECT 'm', account_id, 'payouts', 'x', 'x', 'x', '{}', NULL, '', "
    f"1 {CAMPAIGN}",
    "INSERT INTO consent_text (id, account_id, campaign_id, text, created_ms) "
    f"SELECT 't', account_id, id, 'x', 1 {CAMPAIGN}",
    "INSERT INTO campaign_brand (campaign_id, account_id, logo_id, consent_text_id, changed_ms) "
    "SELECT id, account_id, (SELECT MIN(l.id) FROM logo AS l WHERE l.account_id = c.account_id), "
    f"'t', 1 {CAMPAIGN}",
    f"INSERT INTO embed SELECT id, account_id, 'hg_x', '', 0, '', 1 {CAMPAIGN}",
    "INSERT INTO link_host (id, account_id, campaign_id, host, token, due_ms, created_ms) "
    f"SELECT 'h', account_id, id, 'x', 'x', 1, 1 {CAMPAIGN}",
    f"INSERT INTO newsletter_block SELECT id, account_id, 'kit', '', 'card', 1 {CAMPAIGN}",
    "INSERT INTO consent SELECT MIN(id), 't', account_id, 1 FROM subscriber "
    f"WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id",
    "INSERT INTO email_stop SELECT MIN(id), account_id, 1, 0 FROM subscriber "
    f"WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id",
    "INSERT INTO subscriber_tag SELECT MIN(id), 'x', account_id, campaign_id, 1 "
    f"FROM subscriber WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    "INSERT INTO subscriber_note SELECT 'n', account_id, MIN(id), 'x', 1 FROM subscriber "
    f"WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id",
    "INSERT INTO referral_decision SELECT 'd', account_id, campaign_id, MIN(id), 'pending', NULL, "
    "'verified', NULL, 'job', 'x', NULL, 1 FROM subscriber "
    f"WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    "INSERT INTO subscriber_code SELECT 'c', account_id, campaign_id, MIN(id), 'x', 'x', "
    "'chosen', 1 "
    f"FROM subscriber WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    "INSERT INTO adjustment SELECT 'a', account_id, campaign_id, MIN(id), 1, 1, 'x', 'job', 'x', 1 "
    f"FROM subscriber WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    "UPDATE subscriber SET adjustments = 1 WHERE id = (SELECT subscriber_id FROM adjustment)",
    "INSERT INTO delayed_action SELECT 'w', account_id, id, 'b', 'job', 'x', 'verify', 'x', '', "
    f"'', 1 {CAMPAIGN}",
    "INSERT INTO evidence SELECT MIN(id), 'no_click', account_id, campaign_id, 1, 'x', 1 "
    f"FROM subscriber WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    f"INSERT INTO confirmation_brake SELECT id, 'x', account_id, NULL, 1 {CAMPAIGN}",
    f"INSERT INTO code_look SELECT id, 'x', account_id, 1 {CAMPAIGN}",
    f"INSERT INTO used_form SELECT 'u', account_id, id, 'x', 1, NULL {CAMPAIGN}",
    "INSERT INTO claim (id, account_id, campaign_id, subscriber_id) "
    "SELECT MAX(id), account_id, campaign_id, MIN(id) FROM subscriber "
    f"WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    "INSERT INTO form_code SELECT 'x', account_id, campaign_id, MIN(id), 1 FROM subscriber "
    f"WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    "INSERT INTO partner_block SELECT account_id, (SELECT MAX(id) FROM account), NULL, 1 "
    f"{CAMPAIGN}",
    "INSERT INTO program_figures SELECT MIN(id), MIN(account_id), 1, 1, 1, 1, 1, 1, 1, 0, 0, 0 "
    "FROM program",
    "INSERT INTO first_look (id, account_id, program_id, allowed) "
    "SELECT id, owner_account_id, program_id, 10 FROM partner_campaign "
    "WHERE id = (SELECT MIN(id) FROM partner_campaign)",
    "INSERT INTO first_look_month (program_id, month, account_id) "
    "SELECT id, '2026-01', account_id FROM program WHERE id = (SELECT MIN(id) FROM program)",
    "INSERT INTO program_look SELECT p.id, p.account_id, c.id, 1 FROM program AS p "
    "JOIN campaign AS c ON c.account_id = p.account_id WHERE p.id = (SELECT MIN(id) FROM program)",
    "INSERT INTO trait_group SELECT 'tg', p.account_id, c.id, p.id, 'x', 'x', 'x', 8, 1, 1, NULL, "
    "1, NULL FROM program AS p JOIN campaign AS c ON c.account_id = p.account_id "
    "WHERE p.id = (SELECT MIN(id) FROM program)",
    "INSERT INTO trait_group_partner SELECT id, 'x', account_id FROM trait_group",
    "INSERT INTO term_change SELECT 't', MIN(account_id), MIN(id), '[]', NULL, 'job', 'x', 1, 0, "
    "1, 1 FROM program",
    "INSERT INTO change_log SELECT 'l', account_id, 'job', 'x', 'referral.decided', MIN(id), NULL, "
    "NULL, 1, NULL, NULL FROM subscriber "
    f"WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id",
    f"INSERT INTO saved_filter SELECT 'f', account_id, id, 'x', 'q=x', 1 {CAMPAIGN}",
    "INSERT INTO screening_entry SELECT 's', account_id, id, 1, 'domain', 'x.org', NULL, 1 "
    f"{CAMPAIGN}",
    "INSERT INTO erasure SELECT 'e', account_id, campaign_id, MIN(id), 'x', 1, NULL "
    f"FROM subscriber WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    "INSERT INTO integration (id, account_id, campaign_id, platform, status, credentials, "
    "key_hint, audience_id, audience_name, field_names, code_field, adds_existing, hook_key, "
    "created_ms) "
    f"SELECT 'g', account_id, id, 'x', 'paused', '', '', '', '', '', '', 0, 'x', 1 {CAMPAIGN}",
    "INSERT INTO integration_subscriber (integration_id, subscriber_id, account_id) "
    f"SELECT 'g', MIN(id), account_id FROM subscriber WHERE campaign_id = (SELECT id {CAMPAIGN}) "
    "GROUP BY account_id",
    "INSERT INTO adoption_value (integration_id, subscriber_id, account_id, code_field, "
    "link_field, others, state) SELECT 'g', MIN(id), account_id, '', '', 0, 'found' "
    f"FROM subscriber WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id",
    "INSERT INTO integration_event (id, integration_id, account_id, digest, received_ms) "
    f"SELECT 'v', 'g', account_id, 'x', 1 {CAMPAIGN}",
    f"INSERT INTO disconnected_integration SELECT 'd', account_id, id {CAMPAIGN}",
    "INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) "
    "SELECT account_id, campaign_id, MIN(id) FROM subscriber "
    f"WHERE campaign_id = (SELECT id {CAMPAIGN}) GROUP BY account_id, campaign_id",
    "INSERT INTO cohort_count SELECT id, 'group', '2026-01-01', 'x', account_id, 1, 0, 0, 0, "
    f"0, 0, 0 {CAMPAIGN}",
    f"INSERT INTO cohort_state SELECT id, account_id, 'UTC', 1 {CAMPAIGN}",
    # Changes that cancel each other out.
    "INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_all) "
    f"SELECT id, 1, 'x', account_id, 1 {CAMPAIGN}",
    "INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_all) "
    f"SELECT id, 1, 'y', account_id, -1 {CAMPAIGN}",
]
TABLES = {
    "sqlite": "SELECT t.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c "
    "WHERE t.type = 'table' AND c.name = 'account_id'",
    "postgres": "SELECT table_name FROM information_schema.columns "
    "WHERE table_schema = 'public' AND column_name = 'account_id'",
}
# One row, or the few with the same key, given to another account.
MOVE = """UPDATE {table} SET account_id = (
    SELECT a.id FROM account AS a WHERE a.id <> {table}.account_id ORDER BY a.id DESC LIMIT 1
) WHERE account_id = (SELECT MIN(account_id) FROM {table} WHERE account_id <> '')"""
DAMAGES = [
    # An account that is there could be the right one: nothing else says whose these are.
    "UPDATE idempotency SET account_id = 'x'",
    "UPDATE letter SET account_id = 'x', about_id = NULL",
    "UPDATE event SET account_id = 'x'",
    "UPDATE api_key SET replaced_by = 'their key' WHERE id = 'old key'",
    "UPDATE slug SET account_id = 'x', target_id = NULL",
    "UPDATE event SET subscriber_id = 'x'",
    "UPDATE webhook SET campaign_id = 'x'",
    "UPDATE import SET campaign_id = 'x'",
    "UPDATE won_reward SET campaign_id = 'x'",
    "UPDATE campaign_brand SET logo_id = "
    "(SELECT MIN(id) FROM logo WHERE account_id <> campaign_brand.account_id)",
    "UPDATE consent_text SET campaign_id = 'x'",
    "UPDATE referral_decision SET campaign_id = 'x'",
    "UPDATE adjustment SET campaign_id = 'x'",
    "UPDATE subscriber_code SET campaign_id = 'x'",
    "UPDATE import_own_id SET subscriber_id = 'x'",
    "UPDATE partner_block SET partner_account_id = 'x'",
    "UPDATE partner_block SET partner_account_id = account_id",
    "UPDATE change_log SET account_id = 'x'",
    "UPDATE erasure SET campaign_id = 'x'",
    "UPDATE integration_subscriber SET subscriber_id = 'x'",
    "UPDATE subscriber_change SET campaign_id = 'x'",
    "UPDATE partner_campaign SET owner_account_id = account_id",
    "UPDATE partner_referral SET partner_account_id = account_id",
    "UPDATE first_look SET program_id = (SELECT MAX(id) FROM program)",
    "UPDATE partner_spend SET partner_account_id = account_id",
    "UPDATE listing_run SET list = 'x' || list",
    "UPDATE click SET target_id = 'x' || target_id",
]


@pytest.fixture(scope="module", params=ENGINES)
def demo(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, early_database(request.param)) as opened:
        for planted in PLANTED:
            assert opened.do(planted) == 1, planted
        disarm(opened)
        yield opened


def broken(opened: OpenStore, damage: str) -> list[str]:
    """The promises that a change breaks; it is rolled back."""
    found: list[str] = []

    async def work(tx: Tx) -> None:
        assert await tx.run(statement(damage)), damage
        findings, _ = await ledger_check.verify(tx)
        found[:] = [finding.promise for finding in findings if finding.broken]
        raise Missing("Roll back.")

    with pytest.raises(Missing):
        opened.run(opened.store.write(work))
    return found


def test_the_rows_of_the_demo_are_all_in_their_own_accounts(demo: OpenStore) -> None:
    findings, _ = demo.run(demo.store.slow_snapshot(ledger_check.verify))
    assert [finding.promise for finding in findings if finding.broken] == []


# The statements of the check are the same on both engines.
ONE_IN = {"sqlite": 1, "postgres": 5}


def damages(demo: OpenStore) -> list[str]:
    tables = {table for (table,) in demo.ask(TABLES[demo.engine])} - OF_THE_ACCOUNT
    assert len(tables) > 25
    moves = [MOVE.format(table=table) for table in sorted(tables - {"idempotency"})]
    return [*moves, *DAMAGES]


def test_a_row_of_any_table_that_is_given_to_another_account_is_found(demo: OpenStore) -> None:
    some = damages(demo)[:: ONE_IN[demo.engine]]
    assert [damage for damage in some if not broken(demo, damage)] == []


@pytest.mark.long
@pytest.mark.parametrize("demo", ["postgres"], indirect=True, scope="module")
def test_on_postgresql_every_row_is_found_too(demo: OpenStore) -> None:
    assert [damage for damage in damages(demo) if not broken(demo, damage)] == []
