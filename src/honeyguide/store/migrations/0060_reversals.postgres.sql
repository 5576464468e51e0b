-- works-with: 0060
-- locks: charge (numbered anew), transfer (briefly)
-- As in the file for SQLite.
ALTER TABLE charge DISABLE TRIGGER charge_stays;
ALTER TABLE charge ADD COLUMN person_step BIGINT NOT NULL DEFAULT 1, ADD COLUMN budget_step BIGINT, ADD COLUMN partner_step BIGINT,
    ADD COLUMN reverses_id TEXT COLLATE "C" REFERENCES charge (id), ADD COLUMN reversal_reason TEXT COLLATE "C";
DROP INDEX charge_once, charge_budget_step, charge_partner_step;
UPDATE charge SET budget_step = n.budget_step, partner_step = n.partner_step FROM (
    SELECT id, ROW_NUMBER() OVER (PARTITION BY program_id, month ORDER BY budget_spent_cents) AS budget_step,
        ROW_NUMBER() OVER (PARTITION BY partner_campaign_id, month ORDER BY partner_spent_cents) AS partner_step
    FROM charge
) AS n WHERE n.id = charge.id;
ALTER TABLE charge ALTER COLUMN person_step DROP DEFAULT, ALTER COLUMN budget_step SET NOT NULL, ALTER COLUMN partner_step SET NOT NULL,
    DROP CONSTRAINT charge_check1, DROP CONSTRAINT charge_check2, DROP CONSTRAINT charge_fee_cents_check,
    ADD CHECK (fee_cents <> 0),
    ADD CHECK ((fee_cents < 0) = (reverses_id IS NOT NULL)),
    ADD CHECK ((fee_cents < 0) = (reversal_reason IS NOT NULL)),
    ADD CHECK ((fee_cents > 0) = (person_step % 2 = 1)),
    ADD CHECK (budget_spent_cents >= GREATEST(fee_cents, 0) AND (fee_cents < 0 OR budget_spent_cents <= budget_cap_cents)),
    ADD CHECK (partner_spent_cents >= GREATEST(fee_cents, 0) AND (fee_cents < 0 OR partner_spent_cents <= partner_cap_cents));
CREATE UNIQUE INDEX charge_once ON charge (program_id, person_key, person_step);
CREATE UNIQUE INDEX charge_budget_step ON charge (program_id, month, budget_step);
CREATE UNIQUE INDEX charge_partner_step ON charge (partner_campaign_id, month, partner_step);
CREATE UNIQUE INDEX charge_reversed ON charge (reverses_id) WHERE reverses_id IS NOT NULL;
ALTER TABLE charge ENABLE TRIGGER charge_stays;

ALTER TABLE transfer DROP CONSTRAINT transfer_kind_check,
    ADD CONSTRAINT transfer_kind_check CHECK (kind IN ('charge', 'reversal', 'payout', 'paid', 'unpaid'));
CREATE INDEX transfer_reversed ON transfer (month, debit, amount_cents) WHERE kind = 'reversal';
