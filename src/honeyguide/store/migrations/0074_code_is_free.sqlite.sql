-- works-with: 0060
-- locks: nothing
-- A new code of ours is none that somebody of the campaign has already. Whoever draws such a code draws again, as after any other
-- code that is taken.
CREATE TRIGGER subscriber_code_is_free BEFORE INSERT ON subscriber
WHEN EXISTS (SELECT 1 FROM subscriber_code WHERE campaign_id = NEW.campaign_id AND folded = NEW.ref_code)
BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: subscriber.ref_code'); END;
