-- works-with: 0093
-- locks: partner_referral and budget, for reads and writes, while the limits of what is pending are written
-- The program's monthly budget and the cap per partner when a referral came. It keeps them where they are higher than those of the
-- day on which it is charged. 0 for what was decided before, and for what the version before writes beside this one.
ALTER TABLE partner_referral ADD COLUMN budget_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE partner_referral ADD COLUMN cap_cents INTEGER NOT NULL DEFAULT 0;
UPDATE partner_referral SET
    budget_cents = (SELECT p.total_budget_cents FROM program AS p WHERE p.id = partner_referral.program_id),
    cap_cents = (SELECT p.max_payout_cents FROM program AS p WHERE p.id = partner_referral.program_id)
WHERE decided_ms IS NULL;

-- The highest budget at which the month was reached; -1 if it never was. The version before knows only `reached_ms`, which is about
-- today's budget.
ALTER TABLE budget ADD COLUMN reached_cents INTEGER NOT NULL DEFAULT -1;
UPDATE budget SET reached_cents = (SELECT p.total_budget_cents FROM program AS p WHERE p.id = budget.program_id)
WHERE reached_ms IS NOT NULL;
