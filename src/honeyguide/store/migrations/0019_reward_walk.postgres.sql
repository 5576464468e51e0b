-- works-with: 0014
-- locks: reward, for reads and writes, for a moment
-- A signup that is under way when a reward is created may not see it, and its count is not yet seen by the walk that grants the
-- reward to those who already qualify. So the walk begins when every transaction of that moment has ended: `walk_after` is the
-- transaction that began it.
ALTER TABLE reward ADD COLUMN walk_after BIGINT NOT NULL DEFAULT 0;

CREATE FUNCTION reward_walk_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.walk_after := pg_current_xact_id()::text::bigint;
    RETURN NEW;
END $$;

-- Only when the walk begins at the top of the list, not when it moves on.
CREATE TRIGGER reward_walk_begins BEFORE INSERT OR UPDATE OF walk_ms ON reward
FOR EACH ROW WHEN (NEW.walk_ms = 4611686018427387904) EXECUTE FUNCTION reward_walk_begins();
