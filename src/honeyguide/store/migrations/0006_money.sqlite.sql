CREATE TRIGGER transfer_stays BEFORE UPDATE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_is_kept BEFORE DELETE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_stays BEFORE UPDATE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_is_kept BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_month_is_open BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM period WHERE month = NEW.month AND closed_ms IS NOT NULL) AND NEW.kind = 'charge'
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;
