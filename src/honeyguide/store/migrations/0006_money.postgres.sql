CREATE FUNCTION ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only';
END $$;
CREATE TRIGGER transfer_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer
FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();
CREATE TRIGGER charge_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON charge
FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

CREATE FUNCTION month_is_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM period WHERE month = NEW.month AND closed_ms IS NOT NULL) THEN
        RAISE EXCEPTION 'the month is closed';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER transfer_month_is_open BEFORE INSERT ON transfer FOR EACH ROW EXECUTE FUNCTION month_is_open();

CREATE FUNCTION month_stays_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the month is closed';
END $$;
CREATE TRIGGER period_stays_closed BEFORE UPDATE OF month, closed_ms ON period
FOR EACH ROW WHEN (OLD.closed_ms IS NOT NULL) EXECUTE FUNCTION month_stays_closed();
CREATE TRIGGER period_is_kept BEFORE DELETE ON period
FOR EACH ROW WHEN (OLD.closed_ms IS NOT NULL) EXECUTE FUNCTION month_stays_closed();
