-- works-with: 0093
-- In the statement that changes the address, whichever it is, and also one of an older version that runs beside this one.
CREATE TRIGGER subscriber_moves AFTER UPDATE OF email_key ON subscriber
WHEN OLD.email_key IS NOT NEW.email_key AND NEW.email_key IS NOT NULL BEGIN
    UPDATE subscriber SET link_version = link_version + 1 WHERE id = NEW.id;
END;
CREATE TRIGGER account_moves AFTER UPDATE OF email ON account
WHEN OLD.email <> NEW.email BEGIN
    UPDATE account SET link_version = link_version + 1 WHERE id = NEW.id;
END;

-- Email platforms show the link to the referral page.
CREATE TRIGGER subscriber_change_links AFTER UPDATE OF link_version ON subscriber
WHEN OLD.link_version <> NEW.link_version
    AND EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;
