-- works-with: 0060
-- locks: transfer and charge (both are written anew)
-- A charge can be reversed: a second row of `charge` with the negative fee, in the month of the charge. Charges and reversals are
-- numbered by program and month, by partner campaign and month, and by program and person: no number occurs twice, so no two rows
-- can begin with the same total. Of a person's rows the odd ones are charges: there is never a second one before a reversal.
CREATE TABLE new_charge (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    partner_campaign_id TEXT NOT NULL REFERENCES partner_campaign (id),
    partner_referral_id TEXT NOT NULL REFERENCES partner_referral (id),
    person_key TEXT NOT NULL,
    person_step INTEGER NOT NULL,
    month TEXT NOT NULL,
    fee_cents INTEGER NOT NULL,
    budget_step INTEGER NOT NULL,
    budget_spent_cents INTEGER NOT NULL,
    budget_cap_cents INTEGER NOT NULL,
    partner_step INTEGER NOT NULL,
    partner_spent_cents INTEGER NOT NULL,
    partner_cap_cents INTEGER NOT NULL,
    reverses_id TEXT REFERENCES charge (id),
    reversal_reason TEXT,
    created_ms INTEGER NOT NULL,
    CHECK (fee_cents <> 0),
    CHECK ((fee_cents < 0) = (reverses_id IS NOT NULL)),
    CHECK ((fee_cents < 0) = (reversal_reason IS NOT NULL)),
    CHECK ((fee_cents > 0) = (person_step % 2 = 1)),
    CHECK (account_id <> partner_account_id),
    CHECK (budget_spent_cents >= MAX(fee_cents, 0) AND (fee_cents < 0 OR budget_spent_cents <= budget_cap_cents)),
    CHECK (partner_spent_cents >= MAX(fee_cents, 0) AND (fee_cents < 0 OR partner_spent_cents <= partner_cap_cents))
) STRICT;
INSERT INTO new_charge
SELECT id, account_id, partner_account_id, program_id, partner_campaign_id, partner_referral_id, person_key, 1, month, fee_cents,
    ROW_NUMBER() OVER (PARTITION BY program_id, month ORDER BY budget_spent_cents), budget_spent_cents, budget_cap_cents,
    ROW_NUMBER() OVER (PARTITION BY partner_campaign_id, month ORDER BY partner_spent_cents), partner_spent_cents, partner_cap_cents,
    NULL, NULL, created_ms
FROM charge;
DROP TABLE charge;
ALTER TABLE new_charge RENAME TO charge;
CREATE UNIQUE INDEX charge_once ON charge (program_id, person_key, person_step);
CREATE UNIQUE INDEX charge_budget_step ON charge (program_id, month, budget_step);
CREATE UNIQUE INDEX charge_partner_step ON charge (partner_campaign_id, month, partner_step);
CREATE UNIQUE INDEX charge_reversed ON charge (reverses_id) WHERE reverses_id IS NOT NULL;
CREATE INDEX charge_partner ON charge (partner_account_id, month, created_ms, id);
CREATE INDEX charge_owner ON charge (account_id, month, created_ms, id);
CREATE TRIGGER charge_stays BEFORE UPDATE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_is_kept BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_is_not_replaced BEFORE INSERT ON charge
WHEN EXISTS (SELECT 1 FROM charge WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM charge WHERE program_id = NEW.program_id AND person_key = NEW.person_key AND person_step = NEW.person_step)
  OR EXISTS (SELECT 1 FROM charge WHERE program_id = NEW.program_id AND month = NEW.month AND budget_step = NEW.budget_step)
  OR EXISTS (SELECT 1 FROM charge WHERE partner_campaign_id = NEW.partner_campaign_id AND month = NEW.month
             AND partner_step = NEW.partner_step)
  OR EXISTS (SELECT 1 FROM charge WHERE reverses_id = NEW.reverses_id)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TABLE new_transfer (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    -- What it is for, once: 'charge:<id>', 'reversal:<id>', 'payout:<id>', 'paid:<payout>:<n>', 'unpaid:<payout>:<n>'.
    reference TEXT NOT NULL,
    debit TEXT NOT NULL,
    credit TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    month TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    CHECK (kind IN ('charge', 'reversal', 'payout', 'paid', 'unpaid')),
    CHECK (amount_cents > 0),
    CHECK (debit <> credit)
) STRICT;
INSERT INTO new_transfer SELECT id, kind, reference, debit, credit, amount_cents, month, created_ms FROM transfer;
DROP TABLE transfer;
ALTER TABLE new_transfer RENAME TO transfer;
CREATE UNIQUE INDEX transfer_reference ON transfer (reference);
CREATE INDEX transfer_earned ON transfer (month, kind, credit, amount_cents);
CREATE INDEX transfer_reversed ON transfer (month, debit, amount_cents) WHERE kind = 'reversal';
CREATE TRIGGER transfer_stays BEFORE UPDATE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_is_kept BEFORE DELETE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_is_not_replaced BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM transfer WHERE id = NEW.id OR reference = NEW.reference)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_month_is_open BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM period WHERE month = NEW.month AND closed_ms IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;
