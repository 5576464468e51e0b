"""Kinds of damage to a ledger, each with the promises of `verify` that it breaks."""

# Each with the promises that it breaks.
DAMAGES: dict[str, tuple[set[str], str]] = {
    "a transfer lost": (
        {"charges_without_transfer", "payouts_off"},
        "DELETE FROM transfer WHERE id = {first transfer}",
    ),
    "a transfer of an open month lost": (
        {"charges_without_transfer"},
        "DELETE FROM transfer WHERE month = '2027-01'",
    ),
    "a transfer too high": (
        {"charges_without_transfer", "payouts_off"},
        "UPDATE transfer SET amount_cents = amount_cents + 1 WHERE id = {first transfer}",
    ),
    "a transfer to somebody else": (
        {"charges_without_transfer", "payouts_off"},
        "UPDATE transfer SET credit = 'partner:x:payable' WHERE id = {first transfer}",
    ),
    "a transfer in another month": (
        {"charges_without_transfer", "payouts_off"},
        "UPDATE transfer SET month = '2026-12' WHERE id = {first transfer}",
    ),
    "a transfer from nowhere": (
        {"transfers_without_charge"},
        "INSERT INTO transfer SELECT 'x', 'charge', 'charge:x', debit, credit, 5, "
        "'2026-12', 1 FROM transfer WHERE id = {first transfer}",
    ),
    "a transfer twice": (
        {"transfers_without_charge"},
        "INSERT INTO transfer SELECT 'x', kind, reference || 'x', debit, credit, "
        "amount_cents, '2026-12', 1 FROM transfer WHERE id = {first transfer}",
    ),
    "a transfer between the wrong accounts": (
        {"charges_without_transfer", "entries_off"},
        "UPDATE transfer SET debit = 'cash' WHERE id = {first transfer}",
    ),
    "a payout sent to the wrong account": (
        {"entries_off"},
        "UPDATE transfer SET credit = 'cash' WHERE kind = 'payout'",
    ),
    "a charge lost": (
        {
            "budget_steps_off",
            "budgets_off",
            "partner_spends_off",
            "partner_steps_off",
            "referrals_off",
            "transfers_without_charge",
        },
        "DELETE FROM charge WHERE id = {first charge}",
    ),
    "a charge under a lower budget than its referral's": (
        {"charges_below_arrival"},
        "UPDATE partner_referral SET budget_cents = 99999999 WHERE id = "
        "(SELECT partner_referral_id FROM charge WHERE id = {first charge})",
    ),
    "a charge under a lower cap than its referral's": (
        {"charges_below_arrival"},
        "UPDATE partner_referral SET cap_cents = 99999999 WHERE id = "
        "(SELECT partner_referral_id FROM charge WHERE id = {first charge})",
    ),
    "a charge too low": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_referral",
            "charges_without_transfer",
            "partner_spends_off",
            "partner_steps_off",
        },
        "UPDATE charge SET fee_cents = fee_cents - 1 WHERE id = {first charge}",
    ),
    "a charge in another month": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_referral",
            "charges_without_transfer",
            "partner_spends_off",
            "partner_steps_off",
        },
        "UPDATE charge SET month = '2026-12' WHERE id = {first charge}",
    ),
    "a charge for somebody else": (
        {"charges_without_referral"},
        "UPDATE charge SET person_key = 'x' WHERE id = {first charge}",
    ),
    "a charge without a referral": (
        {"charges_without_referral"},
        "UPDATE charge SET partner_referral_id = 'x' WHERE id = {first charge}",
    ),
    "a charge of another program": (
        {"budgets_off", "charges_without_referral"},
        "UPDATE charge SET account_id = 'x' WHERE id = {first charge}",
    ),
    "a charge for somebody who must confirm": (
        {"charges_unconfirmed"},
        "UPDATE subscriber SET must_confirm = 1 WHERE partner_campaign_id IS NOT NULL",
    ),
    "the same person charged for twice": (
        {"people_twice"},
        "UPDATE partner_referral SET person_key = 'x'; UPDATE charge SET person_key = 'x'",
    ),
    "an account that pays itself": (
        {
            "charges_without_referral",
            "charges_without_transfer",
            "partner_spends_off",
            "people_twice",
        },
        "UPDATE charge SET partner_account_id = account_id",
    ),
    "a budget that says less": (
        {"budgets_off"},
        "UPDATE budget SET spent_cents = spent_cents - 1",
    ),
    "a budget that says more": (
        {"budgets_off"},
        "UPDATE budget SET spent_cents = spent_cents + 1",
    ),
    "a budget lost": (
        {"budgets_off"},
        "DELETE FROM budget",
    ),
    "a budget below what is spent that is not reached": (
        {"budgets_not_reached"},
        "UPDATE program SET total_budget_cents = 1",
    ),
    "a partner's sum that says less": (
        {"partner_spends_off"},
        "UPDATE partner_spend SET spent_cents = spent_cents - 1",
    ),
    "a partner's sum that says more": (
        {"partner_spends_off"},
        "UPDATE partner_spend SET spent_cents = spent_cents + 1",
    ),
    "a partner's sum lost": (
        {"partner_spends_off"},
        "DELETE FROM partner_spend",
    ),
    "a step over the cap": (
        {"charges_below_arrival", "budget_steps_off"},
        "UPDATE charge SET budget_cap_cents = budget_spent_cents - 1 WHERE id = {first charge}",
    ),
    "a step over the partner's cap": (
        {"charges_below_arrival", "partner_steps_off"},
        "UPDATE charge SET partner_cap_cents = 1 WHERE id = {first charge}",
    ),
    "a step left out": (
        {"budget_steps_off"},
        "UPDATE charge SET budget_spent_cents = budget_spent_cents + 1 WHERE id = (SELECT "
        "MAX(id) FROM charge)",
    ),
    "a partner's step left out": (
        {"partner_steps_off"},
        "UPDATE charge SET partner_spent_cents = partner_spent_cents + 1 WHERE id = (SELECT "
        "MAX(id) FROM charge)",
    ),
    "a reversal lost": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_referral",
            "partner_spends_off",
            "referrals_off",
            "transfers_without_charge",
        },
        "DELETE FROM charge WHERE id = {last reversal}",
    ),
    "a reversal's transfer lost": (
        {"charges_without_transfer", "payouts_off"},
        "DELETE FROM transfer WHERE kind = 'reversal'",
    ),
    "a reversal's transfer twice": (
        {"transfers_without_charge"},
        "INSERT INTO transfer SELECT 'x', kind, reference || 'x', debit, credit, amount_cents, "
        "'2026-12', 1 FROM transfer WHERE reference = 'reversal:' || {last reversal}",
    ),
    "a reversal's transfer the wrong way round": (
        {"charges_without_transfer", "entries_off", "payouts_off"},
        "UPDATE transfer SET debit = credit, credit = debit WHERE kind = 'reversal'",
    ),
    "a reversal in another month": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_transfer",
            "partner_spends_off",
            "partner_steps_off",
            "reversals_off",
        },
        "UPDATE charge SET month = '2026-12' WHERE id = {last reversal}",
    ),
    "a reversal of another charge": (
        {"charges_without_referral", "reversals_off"},
        "UPDATE charge SET reverses_id = {first charge} WHERE id = {last reversal}",
    ),
    "a charge reversed twice": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_transfer",
            "partner_spends_off",
            "partner_steps_off",
            "people_twice",
            "referrals_off",
            "reversals_off",
        },
        "INSERT INTO charge (id, account_id, partner_account_id, program_id, partner_campaign_id, "
        "partner_referral_id, person_key, person_step, month, fee_cents, budget_step, "
        "budget_spent_cents, budget_cap_cents, partner_step, partner_spent_cents, "
        "partner_cap_cents, reverses_id, reversal_reason, created_ms) "
        "SELECT 'x', account_id, partner_account_id, program_id, partner_campaign_id, "
        "partner_referral_id, person_key, person_step + 2, month, fee_cents, 99, 300, "
        "budget_cap_cents, 99, 300, partner_cap_cents, reverses_id, reversal_reason, created_ms "
        "FROM charge WHERE id = {last reversal}",
    ),
    "a reversal of the charge after it": (
        {"reversals_off"},
        "UPDATE charge SET reverses_id = (SELECT id FROM charge WHERE person_step = 3) "
        "WHERE id = {first reversal}",
    ),
    "a reversal out of turn": (
        {"people_twice", "reversals_off"},
        "UPDATE charge SET person_step = 4 WHERE id = {last reversal}",
    ),
    "a referral that does not know its reversal": (
        {"referrals_off"},
        "UPDATE partner_referral SET reversal_id = NULL, reversal_reason = NULL, "
        "reversal_note = NULL",
    ),
    "a referral that gives another reason": (
        {"referrals_off"},
        "UPDATE partner_referral SET reversal_reason = 'agreed' WHERE reversal_id IS NOT NULL",
    ),
    "a note without a reversal": (
        {"referrals_off"},
        "UPDATE partner_referral SET reversal_note = 'x' WHERE reversal_id IS NULL",
    ),
    "a referral that says nothing": (
        {"charges_without_referral", "referrals_off"},
        "UPDATE partner_referral SET charged_cents = NULL",
    ),
    "a referral that says both": (
        {"charges_without_referral", "referrals_off"},
        "UPDATE partner_referral SET uncharged_reason = 'free'",
    ),
    "a referral that is not verified": (
        {"referrals_off"},
        "UPDATE subscriber SET referral_status = 'rejected' WHERE referral_status = 'verified'",
    ),
    "a verified one nobody settled": (
        {"charges_without_referral", "referrals_off"},
        "UPDATE partner_referral SET charged_cents = NULL, charged_month = NULL",
    ),
    "a decided one that still waits": (
        {"referrals_off"},
        "UPDATE partner_referral SET decided_ms = NULL",
    ),
    "a payout too high": (
        {"payouts_off", "payout_transfers_off"},
        "UPDATE payout SET amount_cents = amount_cents + 1 WHERE {unpaid}",
    ),
    "a payout and its transfer too high": (
        {"payouts_off"},
        "UPDATE payout SET amount_cents = amount_cents + 1 WHERE {unpaid}; UPDATE transfer "
        "SET amount_cents = amount_cents + 1 WHERE {of unpaid}",
    ),
    "a payout and its transfer too low": (
        {"payouts_off"},
        "UPDATE payout SET amount_cents = amount_cents - 1 WHERE {unpaid}; UPDATE transfer "
        "SET amount_cents = amount_cents - 1 WHERE {of unpaid}",
    ),
    "a payout lost": (
        {"payouts_off", "payout_transfers_off"},
        "DELETE FROM payout WHERE {unpaid}",
    ),
    "a payout and its transfer lost": (
        {"payouts_off"},
        "DELETE FROM transfer WHERE {of unpaid}; DELETE FROM payout WHERE {unpaid}",
    ),
    "a payout and its transfer twice": (
        {"payouts_off"},
        "INSERT INTO transfer SELECT 'x', kind, 'payout:x', debit, credit, amount_cents, "
        "month, 1 FROM transfer WHERE {of unpaid}; INSERT INTO payout (id, account_id, "
        "month, amount_cents, created_ms) SELECT 'x', account_id, month, amount_cents, 1 "
        "FROM payout WHERE {unpaid}",
    ),
    "a payout of an open month": (
        {"payouts_open", "payouts_off", "payout_transfers_off"},
        "UPDATE payout SET month = '2027-05' WHERE {unpaid}",
    ),
    "a month opened after its payouts": (
        {"payouts_open"},
        "UPDATE period SET closed_ms = NULL",
    ),
    "a payout without its transfer": (
        {"payout_transfers_off"},
        "DELETE FROM transfer WHERE {of unpaid}",
    ),
    "a payout booked in the month that it is for": (
        {"payout_transfers_off"},
        "UPDATE transfer SET month = '2026-11' WHERE kind = 'payout'",
    ),
    "a mark without its transfer": (
        {"paid_off"},
        "UPDATE payout SET paid_ms = 1, paid_reference = 'x' WHERE {unpaid}",
    ),
    "a mark taken off without one": (
        {"paid_off"},
        "UPDATE payout SET paid_ms = NULL WHERE paid_ms IS NOT NULL",
    ),
    "a payment lost": (
        {"paid_off"},
        "DELETE FROM transfer WHERE kind = 'paid'",
    ),
    "a payment too high": (
        {"paid_off"},
        "UPDATE transfer SET amount_cents = amount_cents + 1 WHERE kind = 'paid'",
    ),
    "a payment twice": (
        {"paid_off"},
        "INSERT INTO transfer SELECT 'x', kind, reference || '9', debit, credit, "
        "amount_cents, month, 1 FROM transfer WHERE kind = 'paid'",
    ),
}
