-- What a change does to the counts: of the lists of `owner_id` (a campaign, or a star) and of the campaign's days.
CREATE TABLE count_note (
    owner_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    subscriber_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    n_all INTEGER NOT NULL DEFAULT 0,
    n_referrals INTEGER NOT NULL DEFAULT 0,
    n_advocates INTEGER NOT NULL DEFAULT 0,
    n_brought INTEGER NOT NULL DEFAULT 0,
    verified INTEGER NOT NULL DEFAULT 0,
    pending INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner_id, created_ms, subscriber_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER subscriber_enters AFTER INSERT ON subscriber BEGIN
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

CREATE TRIGGER subscriber_is_judged AFTER UPDATE OF referral_status ON subscriber
WHEN OLD.referral_status <> NEW.referral_status AND NEW.referrer_code IS NOT NULL AND OLD.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id,
        (NEW.referral_status = 'verified') - (OLD.referral_status = 'verified'),
        (NEW.referral_status = 'pending') - (OLD.referral_status = 'pending'),
        (NEW.referral_status = 'rejected') - (OLD.referral_status = 'rejected')
    ) ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET verified = verified + excluded.verified,
        pending = pending + excluded.pending, rejected = rejected + excluded.rejected;
    UPDATE subscriber SET
        referrals_verified = referrals_verified + (NEW.referral_status = 'verified') - (OLD.referral_status = 'verified'),
        referrals_pending = referrals_pending + (NEW.referral_status = 'pending') - (OLD.referral_status = 'pending'),
        referrals_rejected = referrals_rejected + (NEW.referral_status = 'rejected') - (OLD.referral_status = 'rejected')
    WHERE id = NEW.referrer_id;
END;

CREATE TRIGGER subscriber_brought AFTER UPDATE OF referrals_verified ON subscriber
WHEN OLD.referrals_verified <> NEW.referrals_verified AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO advocate (subscriber_id, account_id, campaign_id, verified)
    VALUES (NEW.id, NEW.account_id, NEW.campaign_id, NEW.referrals_verified)
    ON CONFLICT (subscriber_id) DO UPDATE SET verified = excluded.verified;
END;

-- Seldom: the flags have indexes, so a count that grows leaves them alone unless it must not.
CREATE TRIGGER subscriber_turns AFTER UPDATE OF referrals_verified, referrals_pending, referrals_rejected ON subscriber
WHEN NEW.is_advocate <> (NEW.referrals_verified > 0)
  OR NEW.is_star < (NEW.referrals_verified + NEW.referrals_pending + NEW.referrals_rejected >= 1000) BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_advocates)
    SELECT NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, (NEW.referrals_verified > 0) - NEW.is_advocate
    WHERE NEW.is_advocate <> (NEW.referrals_verified > 0) AND NEW.erased_ms IS NULL
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_advocates = n_advocates + excluded.n_advocates;
    UPDATE subscriber SET is_advocate = NEW.referrals_verified > 0,
        is_star = max(is_star, NEW.referrals_verified + NEW.referrals_pending + NEW.referrals_rejected >= 1000)
    WHERE id = NEW.id;
END;

CREATE TRIGGER subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    INSERT INTO count_note (
        owner_id, created_ms, subscriber_id, account_id, n_all, n_referrals, n_advocates, verified, pending, rejected
    ) VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, -1, -(OLD.referrer_code IS NOT NULL), -OLD.is_advocate,
        -(OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'verified'),
        -(OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'pending'),
        -(OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'rejected')
    ) ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_all = n_all - 1,
        n_referrals = n_referrals + excluded.n_referrals, n_advocates = n_advocates + excluded.n_advocates,
        verified = verified + excluded.verified, pending = pending + excluded.pending, rejected = rejected + excluded.rejected;
    DELETE FROM advocate WHERE subscriber_id = OLD.id;
    UPDATE subscriber SET
        referrals_verified = referrals_verified - (OLD.referral_status = 'verified'),
        referrals_pending = referrals_pending - (OLD.referral_status = 'pending'),
        referrals_rejected = referrals_rejected - (OLD.referral_status = 'rejected')
    WHERE id = NEW.referrer_id;
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
    SELECT id, NEW.created_ms, NEW.id, account_id, -1 FROM subscriber WHERE id = NEW.referrer_id AND is_star = 1
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_brought = n_brought - 1;
END;
