-- works-with: 0020
-- locks: subscriber, for writes, for a moment
-- In the statement that makes them confirmed, whichever it is, and also one of an older version that runs beside this one.
CREATE FUNCTION subscriber_confirms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.must_confirm := 0;
    RETURN NEW;
END $$;
CREATE TRIGGER subscriber_confirms BEFORE UPDATE OF status ON subscriber FOR EACH ROW
WHEN (NEW.status = 'confirmed' AND NEW.must_confirm = 1) EXECUTE FUNCTION subscriber_confirms();
