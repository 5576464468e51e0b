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
