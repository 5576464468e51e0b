-- works-with: 0020
-- In the statement that makes them confirmed, whichever it is, and also one of an older version that runs beside this one.
CREATE TRIGGER subscriber_confirms AFTER UPDATE OF status ON subscriber
WHEN NEW.status = 'confirmed' AND NEW.must_confirm = 1 BEGIN
    UPDATE subscriber SET must_confirm = 0 WHERE id = NEW.id;
END;
