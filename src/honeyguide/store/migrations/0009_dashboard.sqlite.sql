CREATE TRIGGER subscriber_day_enters AFTER INSERT ON subscriber WHEN NEW.erased_ms IS NULL BEGIN
    INSERT INTO campaign_day (campaign_id, day_ms, account_id, signups, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms - NEW.created_ms % 86400000, NEW.account_id, 1,
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'verified',
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'pending',
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'rejected'
    ) ON CONFLICT (campaign_id, day_ms) DO UPDATE SET signups = signups + 1, verified = verified + excluded.verified,
        pending = pending + excluded.pending, rejected = rejected + excluded.rejected;
END;

CREATE TRIGGER subscriber_day_is_judged AFTER UPDATE OF referral_status ON subscriber
WHEN OLD.referral_status <> NEW.referral_status AND NEW.referrer_code IS NOT NULL AND OLD.erased_ms IS NULL BEGIN
    UPDATE campaign_day SET
        verified = verified + (NEW.referral_status = 'verified') - (OLD.referral_status = 'verified'),
        pending = pending + (NEW.referral_status = 'pending') - (OLD.referral_status = 'pending'),
        rejected = rejected + (NEW.referral_status = 'rejected') - (OLD.referral_status = 'rejected')
    WHERE campaign_id = NEW.campaign_id AND day_ms = NEW.created_ms - NEW.created_ms % 86400000;
END;

CREATE TRIGGER subscriber_day_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    UPDATE campaign_day SET signups = signups - 1,
        verified = verified - (OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'verified'),
        pending = pending - (OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'pending'),
        rejected = rejected - (OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'rejected')
    WHERE campaign_id = NEW.campaign_id AND day_ms = NEW.created_ms - NEW.created_ms % 86400000;
END;
