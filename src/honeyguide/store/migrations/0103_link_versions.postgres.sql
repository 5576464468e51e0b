-- works-with: 0093
-- locks: subscriber and account, for writes, for a moment
-- In the statement that changes the address, whichever it is, and also one of an older version that runs beside this one.
CREATE FUNCTION email_address_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.link_version := OLD.link_version + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER subscriber_moves BEFORE UPDATE OF email_key ON subscriber FOR EACH ROW
WHEN (OLD.email_key IS DISTINCT FROM NEW.email_key AND NEW.email_key IS NOT NULL) EXECUTE FUNCTION email_address_moves();
CREATE TRIGGER account_moves BEFORE UPDATE OF email ON account FOR EACH ROW
WHEN (OLD.email <> NEW.email) EXECUTE FUNCTION email_address_moves();
