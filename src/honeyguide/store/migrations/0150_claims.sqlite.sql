-- works-with: 0093
-- The row of a claim is erased from the beginning: it counts nowhere, and no email platform is told of it.
DROP TRIGGER subscriber_enters;
CREATE TRIGGER subscriber_enters AFTER INSERT ON subscriber WHEN NEW.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_all, n_referrals, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, 1, NEW.referrer_code IS NOT NULL,
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'verified',
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'pending',
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'rejected'
    );
    UPDATE subscriber SET
        referrals_verified = referrals_verified + (NEW.referral_status = 'verified'),
        referrals_pending = referrals_pending + (NEW.referral_status = 'pending'),
        referrals_rejected = referrals_rejected + (NEW.referral_status = 'rejected')
    WHERE id = NEW.referrer_id;
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
    SELECT id, NEW.created_ms, NEW.id, account_id, 1 FROM subscriber WHERE id = NEW.referrer_id AND is_star = 1;
END;
DROP TRIGGER subscriber_change_joins;
CREATE TRIGGER subscriber_change_joins AFTER INSERT ON subscriber
WHEN NEW.erased_ms IS NULL AND EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;
-- A signup is put aside in one statement, and its code goes; another one comes in the next, with its code.
CREATE TRIGGER subscriber_is_unreferred AFTER UPDATE OF referrer_code ON subscriber
WHEN OLD.referrer_code IS NOT NULL AND NEW.referrer_code IS NULL AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_referrals, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, -1,
        -(OLD.referral_status = 'verified'), -(OLD.referral_status = 'pending'), -(OLD.referral_status = 'rejected')
    ) ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_referrals = n_referrals - 1,
        verified = verified + excluded.verified, pending = pending + excluded.pending, rejected = rejected + excluded.rejected;
    UPDATE subscriber SET
        referrals_verified = referrals_verified - (OLD.referral_status = 'verified'),
        referrals_pending = referrals_pending - (OLD.referral_status = 'pending'),
        referrals_rejected = referrals_rejected - (OLD.referral_status = 'rejected')
    WHERE id = OLD.referrer_id;
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
    SELECT id, NEW.created_ms, NEW.id, account_id, -1 FROM subscriber WHERE id = OLD.referrer_id AND is_star = 1
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_brought = n_brought - 1;
END;
