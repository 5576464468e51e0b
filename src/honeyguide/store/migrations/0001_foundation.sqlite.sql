CREATE TABLE listing_delta (
    seq INTEGER PRIMARY KEY,
    account_id TEXT NOT NULL,
    list TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    subscriber_id TEXT NOT NULL,
    n INTEGER NOT NULL
) STRICT;
CREATE INDEX listing_delta_list ON listing_delta (list, created_ms, subscriber_id, n);

CREATE TRIGGER subscriber_enters AFTER INSERT ON subscriber WHEN NEW.erased_ms IS NULL BEGIN
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    VALUES (NEW.account_id, NEW.campaign_id || '/all', NEW.created_ms, NEW.id, 1);
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    SELECT NEW.account_id, NEW.campaign_id || '/referrals', NEW.created_ms, NEW.id, 1 WHERE NEW.referrer_code IS NOT NULL;
    UPDATE subscriber SET
        referrals_verified = referrals_verified + (NEW.referral_status = 'verified'),
        referrals_pending = referrals_pending + (NEW.referral_status = 'pending'),
        referrals_rejected = referrals_rejected + (NEW.referral_status = 'rejected'),
        is_advocate = referrals_verified + (NEW.referral_status = 'verified') > 0,
        is_star = max(is_star, referrals_verified + referrals_pending + referrals_rejected >= 1000)
    WHERE id = NEW.referrer_id;
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    SELECT account_id, id || '/brought', NEW.created_ms, NEW.id, 1 FROM subscriber WHERE id = NEW.referrer_id AND is_star = 1;
END;

CREATE TRIGGER subscriber_is_judged AFTER UPDATE OF referral_status ON subscriber
WHEN OLD.referral_status <> NEW.referral_status AND NEW.referrer_id IS NOT NULL AND OLD.erased_ms IS NULL BEGIN
    UPDATE subscriber SET
        referrals_verified = referrals_verified + (NEW.referral_status = 'verified') - (OLD.referral_status = 'verified'),
        referrals_pending = referrals_pending + (NEW.referral_status = 'pending') - (OLD.referral_status = 'pending'),
        referrals_rejected = referrals_rejected + (NEW.referral_status = 'rejected') - (OLD.referral_status = 'rejected'),
        is_advocate = referrals_verified + (NEW.referral_status = 'verified') - (OLD.referral_status = 'verified') > 0
    WHERE id = NEW.referrer_id;
END;

CREATE TRIGGER subscriber_turns_advocate AFTER UPDATE OF is_advocate ON subscriber
WHEN OLD.is_advocate <> NEW.is_advocate AND OLD.erased_ms IS NULL AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    VALUES (NEW.account_id, NEW.campaign_id || '/advocates', NEW.created_ms, NEW.id, NEW.is_advocate - OLD.is_advocate);
END;

CREATE TRIGGER subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    VALUES (NEW.account_id, NEW.campaign_id || '/all', NEW.created_ms, NEW.id, -1);
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    SELECT NEW.account_id, NEW.campaign_id || '/referrals', NEW.created_ms, NEW.id, -1 WHERE OLD.referrer_code IS NOT NULL;
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    SELECT NEW.account_id, NEW.campaign_id || '/advocates', NEW.created_ms, NEW.id, -1 WHERE OLD.is_advocate = 1;
    UPDATE subscriber SET
        referrals_verified = referrals_verified - (OLD.referral_status = 'verified'),
        referrals_pending = referrals_pending - (OLD.referral_status = 'pending'),
        referrals_rejected = referrals_rejected - (OLD.referral_status = 'rejected'),
        is_advocate = referrals_verified - (OLD.referral_status = 'verified') > 0
    WHERE id = NEW.referrer_id;
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    SELECT account_id, id || '/brought', NEW.created_ms, NEW.id, -1 FROM subscriber WHERE id = NEW.referrer_id AND is_star = 1;
END;
