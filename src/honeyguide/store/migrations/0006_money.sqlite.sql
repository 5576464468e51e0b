CREATE TRIGGER transfer_stays BEFORE UPDATE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_is_kept BEFORE DELETE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_stays BEFORE UPDATE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_is_kept BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
-- INSERT OR REPLACE deletes what is in its way without asking the triggers above.
CREATE TRIGGER transfer_is_not_replaced BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM transfer WHERE id = NEW.id OR reference = NEW.reference)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_is_not_replaced BEFORE INSERT ON charge
WHEN EXISTS (SELECT 1 FROM charge WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM charge WHERE program_id = NEW.program_id AND person_key = NEW.person_key)
  OR EXISTS (SELECT 1 FROM charge WHERE program_id = NEW.program_id AND month = NEW.month AND budget_spent_cents = NEW.budget_spent_cents)
  OR EXISTS (SELECT 1 FROM charge WHERE partner_campaign_id = NEW.partner_campaign_id AND month = NEW.month
             AND partner_spent_cents = NEW.partner_spent_cents)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_month_is_open BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM period WHERE month = NEW.month AND closed_ms IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;
CREATE TRIGGER period_stays_closed BEFORE UPDATE OF month, closed_ms ON period WHEN OLD.closed_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;
CREATE TRIGGER period_is_kept BEFORE DELETE ON period WHEN OLD.closed_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;
