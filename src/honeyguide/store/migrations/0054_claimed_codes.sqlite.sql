-- works-with: 0020
-- Who came with an unknown code can get a referrer later. This counts the referral like one that was there from the start.
-- The statement sets the referral's status first, while there is no referrer, so that `subscriber_is_judged` counts nothing.
CREATE TRIGGER subscriber_is_referred AFTER UPDATE OF referrer_code ON subscriber
WHEN OLD.referrer_code IS NULL AND NEW.referrer_code IS NOT NULL AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_referrals, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, 1,
        NEW.referral_status = 'verified', NEW.referral_status = 'pending', NEW.referral_status = 'rejected'
    ) ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_referrals = n_referrals + 1,
        verified = verified + excluded.verified, pending = pending + excluded.pending, rejected = rejected + excluded.rejected;
    UPDATE subscriber SET
        referrals_verified = referrals_verified + (NEW.referral_status = 'verified'),
        referrals_pending = referrals_pending + (NEW.referral_status = 'pending'),
        referrals_rejected = referrals_rejected + (NEW.referral_status = 'rejected')
    WHERE id = NEW.referrer_id;
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
    SELECT id, NEW.created_ms, NEW.id, account_id, 1 FROM subscriber WHERE id = NEW.referrer_id AND is_star = 1
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_brought = n_brought + 1;
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    SELECT NEW.account_id, NEW.campaign_id, NEW.id WHERE EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id);
END;
-- Who came with an unknown code: the dashboard counts them.
CREATE INDEX subscriber_claimed ON subscriber (campaign_id, claimed_code) WHERE claimed_code IS NOT NULL;
