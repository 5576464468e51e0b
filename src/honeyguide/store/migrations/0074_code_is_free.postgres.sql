-- works-with: 0060
-- locks: subscriber (briefly)
-- As in the file for SQLite.
CREATE FUNCTION code_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM subscriber_code WHERE campaign_id = NEW.campaign_id AND folded = NEW.ref_code) THEN
        RAISE EXCEPTION 'the code is taken' USING ERRCODE = 'unique_violation', CONSTRAINT = 'subscriber_ref_code';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER subscriber_code_is_free BEFORE INSERT ON subscriber FOR EACH ROW EXECUTE FUNCTION code_is_free();
