-- Every campaign holds its address from the moment it is made.
CREATE FUNCTION campaign_takes_slug() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO slug (slug, account_id, kind, target_id) VALUES (NEW.slug, NEW.account_id, 'campaign', NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER campaign_takes_slug AFTER INSERT ON campaign FOR EACH ROW EXECUTE FUNCTION campaign_takes_slug();
