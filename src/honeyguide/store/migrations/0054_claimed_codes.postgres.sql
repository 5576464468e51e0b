-- works-with: 0020
-- locks: subscriber, for writes, for a moment
-- Who came with an unknown code can get a referrer later. This counts the referral like one that was there from the start.
-- The statement sets the referral's status first, while there is no referrer, so that `subscriber_is_judged` counts nothing.
CREATE FUNCTION subscriber_is_referred() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_verified BIGINT := CASE NEW.referral_status WHEN 'verified' THEN 1 ELSE 0 END;
    is_pending BIGINT := CASE NEW.referral_status WHEN 'pending' THEN 1 ELSE 0 END;
    is_rejected BIGINT := CASE NEW.referral_status WHEN 'rejected' THEN 1 ELSE 0 END;
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_referrals, verified, pending, rejected)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, 1, is_verified, is_pending, is_rejected);
    IF NEW.referrer_id IS NOT NULL AND credit_referrer(NEW.referrer_id, is_verified, is_pending, is_rejected) = 1 THEN
        INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
        VALUES (NEW.referrer_id, NEW.created_ms, NEW.id, NEW.account_id, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_is_referred AFTER UPDATE OF referrer_code ON subscriber FOR EACH ROW
WHEN (OLD.referrer_code IS NULL AND NEW.referrer_code IS NOT NULL AND NEW.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_is_referred();
CREATE TRIGGER subscriber_change_referred AFTER UPDATE OF referrer_code ON subscriber FOR EACH ROW
WHEN (OLD.referrer_code IS NULL AND NEW.referrer_code IS NOT NULL) EXECUTE FUNCTION subscriber_change_of_subscriber();
