-- works-with: 0093
-- locks: subscriber, for a moment
-- The row of a claim is erased from the beginning: it counts nowhere, and no email platform is told of it.
DROP TRIGGER subscriber_enters ON subscriber;
CREATE TRIGGER subscriber_enters AFTER INSERT ON subscriber FOR EACH ROW
WHEN (NEW.erased_ms IS NULL) EXECUTE FUNCTION subscriber_enters();
DROP TRIGGER subscriber_change_joins ON subscriber;
CREATE TRIGGER subscriber_change_joins AFTER INSERT ON subscriber FOR EACH ROW
WHEN (NEW.erased_ms IS NULL) EXECUTE FUNCTION subscriber_change_of_subscriber();
-- A signup is put aside in one statement, and its code goes; another one comes in the next, with its code.
CREATE FUNCTION subscriber_is_unreferred() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_verified BIGINT := CASE OLD.referral_status WHEN 'verified' THEN 1 ELSE 0 END;
    was_pending BIGINT := CASE OLD.referral_status WHEN 'pending' THEN 1 ELSE 0 END;
    was_rejected BIGINT := CASE OLD.referral_status WHEN 'rejected' THEN 1 ELSE 0 END;
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_referrals, verified, pending, rejected)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, -1, -was_verified, -was_pending, -was_rejected);
    IF OLD.referrer_id IS NOT NULL AND credit_referrer(OLD.referrer_id, -was_verified, -was_pending, -was_rejected) = 1 THEN
        INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
        VALUES (OLD.referrer_id, NEW.created_ms, NEW.id, NEW.account_id, -1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_is_unreferred AFTER UPDATE OF referrer_code ON subscriber FOR EACH ROW
WHEN (OLD.referrer_code IS NOT NULL AND NEW.referrer_code IS NULL AND NEW.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_is_unreferred();
