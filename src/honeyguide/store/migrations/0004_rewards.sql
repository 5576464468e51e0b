-- What advocates win, the codes they win it with, who holds which page address, and clicks on links.

-- Pending referrals that time may verify. One that waits for a confirmation is never ripe by time alone.
CREATE INDEX subscriber_due ON subscriber (referral_due_ms)
WHERE referral_status = 'pending' AND erased_ms IS NULL AND COALESCE(referral_reason, '') <> 'awaiting_confirmation';

-- Addresses of hosted pages, of campaigns and programs alike. A freed one (no target) is free for the same account only.
CREATE TABLE slug (
    slug TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    target_id TEXT,
    CHECK (kind IN ('campaign', 'program'))
) STRICT;
CREATE INDEX slug_target ON slug (target_id) WHERE target_id IS NOT NULL;
INSERT INTO slug (slug, account_id, kind, target_id) SELECT slug, account_id, 'campaign', id FROM campaign;

-- A milestone. `codes_left` and `waiting` count a pool's free codes and those who wait for one; both move only with this row
-- locked, so that whoever comes first is served first. `stock_base` is what the pool held when it was last filled, and
-- `stock_told` what its owner was told since: 0 nothing, 1 that few are left, 2 that none is. `walk_ms` and `walk_id` are how
-- far the walk has come that gives a new milestone to everyone already past it; null when it is done.
CREATE TABLE reward (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL REFERENCES campaign (id),
    name TEXT NOT NULL,
    referrals INTEGER NOT NULL,
    kind TEXT NOT NULL,
    recurring INTEGER NOT NULL,
    approval TEXT NOT NULL,
    description TEXT,
    link TEXT,
    coupon_code TEXT,
    is_pool INTEGER NOT NULL,
    codes_total INTEGER NOT NULL DEFAULT 0,
    codes_left INTEGER NOT NULL DEFAULT 0,
    waiting INTEGER NOT NULL DEFAULT 0,
    stock_base INTEGER NOT NULL DEFAULT 0,
    stock_told INTEGER NOT NULL DEFAULT 0,
    walk_ms INTEGER,
    walk_id TEXT,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER,
    CHECK (referrals >= 1),
    CHECK (kind IN ('manual', 'link', 'coupon', 'physical')),
    CHECK (approval IN ('automatic', 'manual')),
    CHECK (codes_left >= 0 AND waiting >= 0)
) STRICT;
CREATE INDEX reward_campaign ON reward (campaign_id, referrals, id) WHERE deleted_ms IS NULL;
CREATE INDEX reward_walk ON reward (walk_ms) WHERE walk_ms IS NOT NULL;
CREATE INDEX reward_refill ON reward (waiting) WHERE waiting > 0;

-- What one advocate won: once per milestone, or once per multiple of a recurring one. Erasing the advocate keeps the row.
CREATE TABLE won_reward (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    reward_id TEXT NOT NULL REFERENCES reward (id),
    subscriber_id TEXT NOT NULL REFERENCES subscriber (id),
    multiple INTEGER NOT NULL,
    status TEXT NOT NULL,
    coupon_code TEXT,
    earned_ms INTEGER NOT NULL,
    approved_by TEXT,
    unlocked_ms INTEGER,
    redeemed_ms INTEGER,
    redeemed_by TEXT,
    shipping TEXT,
    CHECK (status IN ('awaiting_approval', 'unlocked', 'out_of_stock', 'redeemed'))
) STRICT;
CREATE UNIQUE INDEX won_reward_once ON won_reward (reward_id, subscriber_id, multiple);
CREATE INDEX won_reward_person ON won_reward (subscriber_id, earned_ms, id);
CREATE INDEX won_reward_status ON won_reward (campaign_id, status, earned_ms, id);
CREATE INDEX won_reward_waiting ON won_reward (reward_id, id) WHERE status = 'out_of_stock';

-- A pool's codes in the order they were added. `won_id` is whoever it was given to.
CREATE TABLE coupon (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    reward_id TEXT NOT NULL REFERENCES reward (id),
    code TEXT NOT NULL,
    won_id TEXT REFERENCES won_reward (id)
) STRICT;
CREATE UNIQUE INDEX coupon_code ON coupon (reward_id, code);
CREATE UNIQUE INDEX coupon_won ON coupon (won_id) WHERE won_id IS NOT NULL;
CREATE INDEX coupon_free ON coupon (reward_id, id) WHERE won_id IS NULL;

-- Who clicked lately, as a hash salted anew each day, kept for two days to count a visitor once an hour; and what remains: how
-- many, per link and day. The row with an empty code is the campaign's total. `target_id` is the campaign, of either kind.
CREATE TABLE click (
    target_id TEXT NOT NULL,
    code TEXT NOT NULL,
    hour_ms INTEGER NOT NULL,
    visitor TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (target_id, code, hour_ms, visitor)
) STRICT;
CREATE INDEX click_age ON click (hour_ms);

CREATE TABLE click_day (
    target_id TEXT NOT NULL,
    code TEXT NOT NULL,
    day_ms INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (target_id, code, day_ms)
) STRICT;
