-- An attempt is noted by the transaction that settles its delivery and holds its row: to look for that row once more for each
-- attempt cost a tenth of a delivery. Attempts still go with their delivery.
ALTER TABLE attempt DROP CONSTRAINT attempt_delivery_id_fkey;
CREATE FUNCTION attempts_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM attempt USING gone WHERE attempt.delivery_id = gone.id;
    RETURN NULL;
END $$;
CREATE TRIGGER attempts_go AFTER DELETE ON delivery REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION attempts_go();
