-- Every campaign holds its address from the moment it is made.
CREATE TRIGGER campaign_takes_slug AFTER INSERT ON campaign BEGIN
    INSERT INTO slug (slug, account_id, kind, target_id) VALUES (NEW.slug, NEW.account_id, 'campaign', NEW.id);
END;
