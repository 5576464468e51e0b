-- works-with: 0093
-- locks: nothing in a new database
-- The schema of version 0.3.0, for both engines. Databases that were made by it have all this; what came later is in later files.

-- Facts about the installation itself, by name.
CREATE TABLE instance (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
--   time_zone               in which days on the dashboard and in summaries are cut
--   weekly_due_ms           when to look next whether the weekly summary is due; 0: not looked at yet
--   weekly_monday           the Monday of the last one
--   checklist_dismissed_ms  when the set-up checklist was dismissed
--   needs_second_factor     whether all its members need one
--   paused_ms               since when an administrator has paused it; null while it is not
--   closes_ms               when it is closed, from the moment that an owner asked for it; null otherwise
--   closed_ms               since when it is closed for good
--   emptied_ms              since when nothing of its subscribers is left but the records of money
--   forgotten_ms            since when its own name and address are gone too, because records are no longer kept
CREATE TABLE account (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    name TEXT,
    is_admin INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL,
    time_zone TEXT NOT NULL DEFAULT 'UTC',
    weekly_due_ms INTEGER NOT NULL DEFAULT 0,
    weekly_monday TEXT,
    checklist_dismissed_ms INTEGER,
    needs_second_factor INTEGER NOT NULL DEFAULT 0,
    paused_ms INTEGER,
    closes_ms INTEGER,
    closed_ms INTEGER,
    emptied_ms INTEGER,
    forgotten_ms INTEGER
) STRICT;
CREATE INDEX account_weekly ON account (weekly_due_ms);
CREATE INDEX account_paused ON account (id) WHERE paused_ms IS NOT NULL;
CREATE INDEX account_closes ON account (closes_ms) WHERE closes_ms IS NOT NULL AND emptied_ms IS NULL;
CREATE INDEX account_emptied ON account (emptied_ms) WHERE emptied_ms IS NOT NULL AND forgotten_ms IS NULL;

-- People and accounts are separate: a user logs in, and is a member of one or more accounts with a role in each.
CREATE TABLE login_user (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    name TEXT,
    password_hash TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX login_user_email ON login_user (email_key);

CREATE TABLE member (
    account_id TEXT NOT NULL REFERENCES account (id),
    user_id TEXT NOT NULL REFERENCES login_user (id),
    role TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, user_id),
    CHECK (role IN ('owner', 'editor', 'finance', 'analyst'))
) STRICT;
CREATE INDEX member_user ON member (user_id, created_ms, account_id);
-- What an API key may do, and until when.
--   scopes        names of scopes with a blank between them; null: all
--   expires_ms    when it stops working; null: never
--   replaced_by   the key that takes its place once it was rotated; it works until `expires_ms`
--   warned_ms     when the operator was notified that it expires
CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    prefix TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    last_used_ms INTEGER,
    revoked_ms INTEGER,
    scopes TEXT,
    expires_ms INTEGER,
    replaced_by TEXT REFERENCES api_key (id),
    warned_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX api_key_digest ON api_key (digest);
CREATE INDEX api_key_account ON api_key (account_id, created_ms);
-- For the job that warns of keys that expire soon.
CREATE INDEX api_key_expires ON api_key (expires_ms) WHERE expires_ms IS NOT NULL AND warned_ms IS NULL AND replaced_by IS NULL AND revoked_ms IS NULL;
-- One per account, made with it.
--   first_referral_ms   the first referral of which the operator was notified
--   sends_…             which emails it sends to its subscribers, besides those that somebody asks for
--   link_parameters     names of parameters in old links that hold a subscriber's code, besides those that we know: a JSON list
CREATE TABLE campaign (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    destination_url TEXT,
    screening TEXT NOT NULL DEFAULT 'flexible',
    hold_days INTEGER NOT NULL DEFAULT 0,
    needs_confirmation INTEGER NOT NULL DEFAULT 0,
    words TEXT NOT NULL DEFAULT '{}',
    created_ms INTEGER NOT NULL,
    first_referral_ms INTEGER,
    sends_friend_joined INTEGER NOT NULL DEFAULT 0,
    sends_one_more INTEGER NOT NULL DEFAULT 0,
    sends_reward_unlocked INTEGER NOT NULL DEFAULT 1,
    link_parameters TEXT NOT NULL DEFAULT '[]',
    sends_shipment_sent INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX campaign_account ON campaign (account_id);
-- A person in a campaign, how they came, and what was decided about that. Erasing a person nulls what is personal and keeps
-- the row: codes, states and money stay true. `created_ms` may be the client's (display and order only); `received_ms` is ours.
-- `campaign_id` and `referrer_id` are no foreign keys: neither is ever deleted, and PostgreSQL would look up and lock both rows
-- for every signup, the campaign's one row among them.
--   shows_name       people they invite see their first name on the signup page
--   left_program_ms  they left the referral program: their link no longer counts. They stay subscribed.
--   unsubscribed_ms  when they unsubscribed; null for those who were unsubscribed when they were added
--   must_confirm     whether they still have to confirm their address: decided when they join (`must_confirm` in rules.py)
--   adjustments      the sum of their rows in `adjustment`
--   language         of the page on which they signed up; null if they did not sign up on one of ours
CREATE TABLE subscriber (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    email TEXT,
    email_key TEXT,
    person_key TEXT NOT NULL,
    name TEXT,
    ref_code TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'active',
    referrer_code TEXT,
    claimed_code TEXT,
    referrer_id TEXT,
    partner_campaign_id TEXT,
    referral_status TEXT NOT NULL DEFAULT 'verified',
    referral_reason TEXT,
    referral_due_ms INTEGER,
    referral_behind TEXT,
    decided_by TEXT,
    decided_ms INTEGER,
    referrals_verified INTEGER NOT NULL DEFAULT 0,
    referrals_pending INTEGER NOT NULL DEFAULT 0,
    referrals_rejected INTEGER NOT NULL DEFAULT 0,
    is_advocate INTEGER NOT NULL DEFAULT 0,
    is_star INTEGER NOT NULL DEFAULT 0,
    ip_address TEXT,
    network TEXT,
    user_agent TEXT,
    origin TEXT NOT NULL,
    utm_source TEXT,
    utm_campaign TEXT,
    created_ms INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,
    erased_ms INTEGER,
    shows_name INTEGER NOT NULL DEFAULT 0,
    left_program_ms INTEGER,
    unsubscribed_ms INTEGER,
    must_confirm INTEGER NOT NULL DEFAULT 0,
    adjustments INTEGER NOT NULL DEFAULT 0,
    language TEXT,
    CHECK (referral_status IN ('verified', 'pending', 'rejected')),
    CHECK (status IN ('active', 'unsubscribed', 'confirmed')),
    CHECK (referrals_verified >= 0 AND referrals_pending >= 0 AND referrals_rejected >= 0)
) STRICT;
-- Partial, so that PostgreSQL does not take it for a key that others may refer to: erasing a person, which nulls the email, then does
-- not wait for whoever signs up with their code (and they for it: a deadlock).
CREATE UNIQUE INDEX subscriber_email ON subscriber (campaign_id, email_key) WHERE email_key IS NOT NULL;
CREATE UNIQUE INDEX subscriber_ref_code ON subscriber (ref_code);
CREATE INDEX subscriber_list ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL;
CREATE INDEX subscriber_referred ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND referrer_code IS NOT NULL;
CREATE INDEX subscriber_advocates ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND is_advocate = 1;
CREATE INDEX subscriber_referrals ON subscriber (referrer_id, created_ms, id) WHERE erased_ms IS NULL AND referrer_id IS NOT NULL;
-- How many came with one code lately: screening asks.
CREATE INDEX subscriber_arrivals ON subscriber (campaign_id, referrer_code, received_ms) WHERE referrer_code IS NOT NULL;
-- Pending referrals that time may verify. One that waits for a confirmation is never verified by time alone.
CREATE INDEX subscriber_due ON subscriber (referral_due_ms)
WHERE referral_status = 'pending' AND erased_ms IS NULL AND COALESCE(referral_reason, '') <> 'awaiting_confirmation';
-- Is this person, under any spelling of their address, a subscriber already?
CREATE INDEX subscriber_person ON subscriber (campaign_id, person_key) WHERE erased_ms IS NULL;
-- Lists of the dashboard: what waits for a decision, who left, and names by how they begin.
CREATE INDEX subscriber_review ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referrer_code IS NOT NULL AND referral_status <> 'verified';
CREATE INDEX subscriber_left ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND status = 'unsubscribed';
-- What waits for a person to look: a handful among all that wait for time or a confirmation.
CREATE INDEX subscriber_suspected ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referral_status = 'pending' AND referral_reason IN ('same_network', 'many_from_one_network', 'burst');
-- Subscribers that partners sent, by person, erased ones too: before a charge, the program looks for an earlier one for the same
-- person under an address they have had since.
CREATE INDEX subscriber_paid_person ON subscriber (account_id, person_key) WHERE partner_campaign_id IS NOT NULL;
-- The newest signups from the operator's own website, however many others there are.
CREATE INDEX subscriber_embed ON subscriber (campaign_id, received_ms DESC) WHERE origin = 'embed' AND erased_ms IS NULL;
-- Who still has to confirm their address, of a campaign, newest first.
CREATE INDEX subscriber_unconfirmed ON subscriber (campaign_id, created_ms, id)
WHERE erased_ms IS NULL AND must_confirm = 1;
-- Who came with an unknown code: the dashboard counts them.
CREATE INDEX subscriber_claimed ON subscriber (campaign_id, claimed_code) WHERE claimed_code IS NOT NULL;
CREATE INDEX subscriber_suspicious ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referral_status = 'pending'
  AND referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated', 'needs_review');
-- Who has not confirmed for long, of those that partners referred.
CREATE INDEX subscriber_awaiting ON subscriber (received_ms)
WHERE referral_status = 'pending' AND erased_ms IS NULL AND partner_campaign_id IS NOT NULL AND referral_reason = 'awaiting_confirmation';
-- Who referred most: beside the subscriber, so that a count that grows rewrites this short row's index and none of the long row's.
-- `on_leaderboard` is beside the count that the leaderboard is sorted by, so that one index has both.
CREATE TABLE advocate (
    subscriber_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    verified INTEGER NOT NULL,
    on_leaderboard INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX advocate_best ON advocate (campaign_id, verified, subscriber_id);
-- The first places of a campaign's leaderboard, however many advocates are not on it.
CREATE INDEX advocate_leaderboard ON advocate (campaign_id, verified, subscriber_id) WHERE on_leaderboard = 1;
-- How long a list is and where its blocks of about a thousand begin. A list is `<campaign>/all`, `<campaign>/referrals`,
-- `<campaign>/advocates` or `<subscriber>/brought` (kept for those with over 1,000). Triggers note what changes (`count_note`); the
-- notes are summed up later, so that writers never queue for a counter. A list `is_long` while it has a block that is still to be
-- split: a large import is split a few blocks at a time.
CREATE TABLE listing (
    list TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    is_long INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX listing_long ON listing (list) WHERE is_long = 1;

CREATE TABLE listing_run (
    list TEXT NOT NULL,
    account_id TEXT NOT NULL,
    lo_ms INTEGER NOT NULL,
    lo_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (list, lo_ms, lo_id)
) STRICT;

-- Signups by the day they say they came, and what their referral is now, from the same notes: no page counts people.
CREATE TABLE campaign_day (
    campaign_id TEXT NOT NULL,
    day_ms INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    signups INTEGER NOT NULL DEFAULT 0,
    verified INTEGER NOT NULL DEFAULT 0,
    pending INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (campaign_id, day_ms)
) STRICT;

-- An answer already given to a POST with an Idempotency-Key. `about` is the uuid it told of, so that erasing can find it.
CREATE TABLE idempotency (
    account_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER,
    body TEXT,
    about TEXT,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, idempotency_key)
) STRICT;
CREATE INDEX idempotency_about ON idempotency (account_id, about) WHERE about IS NOT NULL;
CREATE INDEX idempotency_age ON idempotency (created_ms);
-- Which process runs a job just now (`token` is its lease), when the job last ran and succeeded, how long it took, what came of it,
-- and when a process last looked whether it has work: all in real time.
CREATE TABLE job_lease (
    name TEXT PRIMARY KEY,
    leased_until_ms INTEGER NOT NULL,
    token TEXT,
    every_ms INTEGER NOT NULL DEFAULT 0,
    started_ms INTEGER NOT NULL DEFAULT 0,
    duration_ms INTEGER,
    result TEXT,
    succeeded_ms INTEGER,
    looked_ms INTEGER NOT NULL DEFAULT 0
) STRICT;
-- What happened, and who is told. A streak of failure ends with a success, or when nothing was tried for long. Every rotated secret
-- keeps its own day. A flag that is null was not set. `sparkloop_token` is what receivers written for SparkLoop expect in the header of
-- that name; null: the header is not sent.
CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    -- Set for a v1 webhook, which belongs to the campaign; null for a v2 one, which belongs to the account.
    campaign_id TEXT,
    url TEXT NOT NULL,
    new_referral INTEGER,
    new_partner_referral INTEGER,
    reward_unlocked INTEGER,
    reward_redeemed INTEGER,
    secret TEXT NOT NULL,
    failing_since_ms INTEGER,
    warned_ms INTEGER,
    disabled_ms INTEGER,
    disabled_reason TEXT,
    created_ms INTEGER NOT NULL,
    failed_ms INTEGER,
    old_secrets TEXT NOT NULL DEFAULT '[]',
    new_subscriber INTEGER,
    subscriber_unsubscribed INTEGER,
    referral_verified INTEGER,
    referral_rejected INTEGER,
    partner_referral_reversed INTEGER,
    sparkloop_token TEXT
) STRICT;
CREATE INDEX webhook_account ON webhook (account_id, created_ms, id);

-- An event keeps the exact bytes that are sent, until erasing a person drops them.
CREATE TABLE event (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT,
    subscriber_id TEXT,
    referrer_id TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX event_subscriber ON event (subscriber_id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX event_referrer ON event (referrer_id) WHERE referrer_id IS NOT NULL;
CREATE INDEX event_age ON event (created_ms);

-- One event on its way to one webhook. A worker that holds the lease sends it; only the lease's token may record the outcome.
CREATE TABLE delivery (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event_id TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
    status TEXT NOT NULL DEFAULT 'pending',
    tries INTEGER NOT NULL DEFAULT 0,
    due_ms INTEGER NOT NULL,
    leased_until_ms INTEGER NOT NULL DEFAULT 0,
    lease_token TEXT,
    created_ms INTEGER NOT NULL,
    CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled'))
) STRICT;
CREATE UNIQUE INDEX delivery_once ON delivery (event_id, webhook_id);
CREATE INDEX delivery_due ON delivery (webhook_id, due_ms) WHERE status = 'pending';
CREATE INDEX delivery_log ON delivery (account_id, webhook_id, created_ms, id);
-- The failed deliveries of a webhook, however many others there are.
CREATE INDEX delivery_failed ON delivery (webhook_id, created_ms, id) WHERE status = 'failed';

CREATE TABLE attempt (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    delivery_id TEXT NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
    at_ms INTEGER NOT NULL,
    status_code INTEGER,
    latency_ms INTEGER NOT NULL,
    error TEXT,
    response TEXT,
    PRIMARY KEY (delivery_id, id)
) STRICT;
-- Emails: written with the change they tell of, sent later. `due_ms` is null once an email is sent, failed or cancelled.
-- `account_id` is the account on whose behalf it goes out, `about_id` the subscriber it tells of. `mailbox` folds aliases of
-- one mailbox together, so that limits on mail hold for the person who gets it. `waited_for` is 1 when somebody sits in front
-- of a screen until it comes.
--   reply_to, unsubscribe_url   where replies go, and where its reader stops such emails; without the latter, somebody asked for it
--   held_code                   of a confirmation email that waits because of this referral code; it has no `due_ms`
--   bounced                     the mail server said that there is no such mailbox. Nobody in the account is written to there again.
CREATE TABLE letter (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    to_email TEXT,
    mailbox TEXT,
    from_name TEXT,
    subject TEXT,
    body_text TEXT,
    body_html TEXT,
    about_id TEXT,
    once_key TEXT,
    waited_for INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    due_ms INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    lease_token TEXT,
    sent_ms INTEGER,
    failed_ms INTEGER,
    error TEXT,
    reply_to TEXT,
    unsubscribe_url TEXT,
    held_code TEXT,
    bounced INTEGER NOT NULL DEFAULT 0,
    CHECK (due_ms IS NULL OR (sent_ms IS NULL AND failed_ms IS NULL)),
    CHECK (due_ms IS NULL OR (to_email IS NOT NULL AND subject IS NOT NULL AND body_text IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX letter_once ON letter (account_id, once_key) WHERE once_key IS NOT NULL;
CREATE INDEX letter_due ON letter (waited_for DESC, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX letter_account ON letter (account_id, created_ms, id);
CREATE INDEX letter_about ON letter (account_id, about_id, created_ms) WHERE about_id IS NOT NULL;
CREATE INDEX letter_mailbox ON letter (mailbox, created_ms) WHERE mailbox IS NOT NULL;
CREATE INDEX letter_kept ON letter (created_ms) WHERE body_text IS NOT NULL AND due_ms IS NULL;
CREATE INDEX letter_held ON letter (account_id, held_code, created_ms) WHERE held_code IS NOT NULL;
CREATE INDEX letter_bounced ON letter (account_id, mailbox) WHERE bounced = 1;
-- The oldest email that is not sent yet, however many there are.
CREATE INDEX letter_unsent ON letter (created_ms) WHERE due_ms IS NOT NULL;

-- Addresses of hosted pages, of campaigns and programs alike. A freed one (no target) is free for the same account only.
CREATE TABLE slug (
    slug TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    target_id TEXT,
    CHECK (kind IN ('campaign', 'program'))
) STRICT;
CREATE INDEX slug_target ON slug (target_id) WHERE target_id IS NOT NULL;
-- A milestone. `codes_left` and `waiting` count a pool's free codes and those who wait for one; both move only with this row
-- locked, so that whoever comes first is served first. `stock_base` is what the pool held when it was last filled, and
-- `stock_told` what its owner was told since: 0 nothing, 1 that few are left, 2 that none is. `walk_ms` and `walk_id` are how
-- far the backfill has come that gives a new reward to everyone who qualifies already; null when it is done. `variants` of a physical
-- reward are the sizes or colors to choose from, a JSON list.
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
    variants TEXT,
    CHECK (referrals >= 1),
    CHECK (kind IN ('manual', 'link', 'coupon', 'physical')),
    CHECK (approval IN ('automatic', 'manual')),
    CHECK (codes_left >= 0 AND waiting >= 0)
) STRICT;
CREATE INDEX reward_campaign ON reward (campaign_id, referrals, id) WHERE deleted_ms IS NULL;
CREATE INDEX reward_walk ON reward (walk_ms) WHERE walk_ms IS NOT NULL;
CREATE INDEX reward_refill ON reward (waiting) WHERE waiting > 0;
-- The physical rewards of a campaign, also those that are no longer offered, to count what is to send of each.
CREATE INDEX reward_physical ON reward (campaign_id, referrals, id) WHERE kind = 'physical';
-- What one advocate earned: once per reward, or once per multiple of a recurring one. Erasing the advocate keeps the row. One that
-- was redeemed with a postal address (`shipping`) is a shipment: to send until `sent_ms` is set. 90 days later the address is removed.
--   variant              the one that the subscriber chose
--   sent_by              the login of the operator, or `api`
--   announce_ms          when the subscriber is told that it is on its way; until then, marking it as sent can be undone. Null after that
--   sent_batch           what was marked as sent together, and is undone together
--   delivered_ms         when the operator said that it arrived
--   address_changed_ms   when the subscriber last corrected the postal address
--   seen_ms              when they first saw on their referral page that it is theirs. It is celebrated once.
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
    variant TEXT,
    sent_ms INTEGER,
    sent_by TEXT,
    tracking_note TEXT,
    announce_ms INTEGER,
    sent_batch TEXT,
    delivered_ms INTEGER,
    address_changed_ms INTEGER,
    seen_ms INTEGER,
    CHECK (status IN ('awaiting_approval', 'unlocked', 'out_of_stock', 'redeemed'))
) STRICT;
CREATE UNIQUE INDEX won_reward_once ON won_reward (reward_id, subscriber_id, multiple);
CREATE INDEX won_reward_person ON won_reward (subscriber_id, earned_ms, id);
CREATE INDEX won_reward_status ON won_reward (campaign_id, status, earned_ms, id);
CREATE INDEX won_reward_waiting ON won_reward (reward_id, id) WHERE status = 'out_of_stock';
-- What was marked as sent within the last minute: empty nearly always.
CREATE INDEX won_reward_announce ON won_reward (announce_ms) WHERE announce_ms IS NOT NULL;
-- Sent, and the postal address is not removed yet.
CREATE INDEX won_reward_address_kept ON won_reward (sent_ms) WHERE sent_ms IS NOT NULL AND shipping IS NOT NULL;
-- What was sent, by the time it was sent, as the dashboard lists it.
CREATE INDEX won_reward_sent ON won_reward (campaign_id, sent_ms, id) WHERE sent_ms IS NOT NULL;
-- What was sent, by the time it was claimed, as the API lists it.
CREATE INDEX won_reward_sent_by_claim ON won_reward (campaign_id, redeemed_ms, id) WHERE sent_ms IS NOT NULL;
-- What is to send, by the time it was claimed.
CREATE INDEX won_reward_to_send ON won_reward (campaign_id, redeemed_ms, id) WHERE shipping IS NOT NULL AND sent_ms IS NULL;
-- The same for one reward.
CREATE INDEX won_reward_to_send_of_reward ON won_reward (reward_id, redeemed_ms, id) WHERE shipping IS NOT NULL AND sent_ms IS NULL;
-- What was earned and is not claimed yet, by reward.
CREATE INDEX won_reward_unclaimed ON won_reward (reward_id, earned_ms, id) WHERE status = 'unlocked';

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

CREATE TABLE logo (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    content_type TEXT NOT NULL,
    -- Null where logos are kept in a folder instead.
    data BLOB,
    created_ms INTEGER NOT NULL
) STRICT;
--   search_text   name, categories and description, folded by Honeyguide, because lower() in SQL knows only ASCII
--   was_enabled   its program was on when the account was paused or began to close, and comes on again when that ends
CREATE TABLE publication (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    description TEXT,
    categories TEXT NOT NULL,
    list_id TEXT,
    status TEXT NOT NULL DEFAULT 'active',
    logo_id TEXT NOT NULL REFERENCES logo (id),
    enabled_partner_program INTEGER NOT NULL DEFAULT 0,
    audience_gender TEXT NOT NULL,
    income_levels TEXT NOT NULL,
    age_ranges TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER,
    search_text TEXT NOT NULL DEFAULT '',
    was_enabled INTEGER NOT NULL DEFAULT 0,
    CHECK (status IN ('active', 'archived'))
) STRICT;
CREATE INDEX publication_account ON publication (account_id, created_ms, id) WHERE deleted_ms IS NULL;
-- The offer of one publication.
--   confirmation_bp         the 30-day confirmation rate in basis points, for sorting only; -1 without decided referrals
--   rule, screening         what it asks of referrals; without a level of its own, the campaign's holds
--   is_verification_chosen  the owner chose them: then they hold for every origin, otherwise only for those that we host
--   verification_offer_ms   when the owner of an older program kept what it has, rather than what new ones start with
CREATE TABLE program (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    publication_id TEXT NOT NULL REFERENCES publication (id),
    terms TEXT,
    resources_url TEXT,
    redirect_url TEXT NOT NULL,
    slug TEXT,
    thankyou_page_url TEXT,
    show_in_directory INTEGER NOT NULL DEFAULT 0,
    referral_pending_duration INTEGER NOT NULL DEFAULT 14,
    referral_pending_duration_enabled INTEGER NOT NULL DEFAULT 0,
    max_payout_cents INTEGER NOT NULL,
    total_budget_cents INTEGER NOT NULL,
    cpa_cents INTEGER NOT NULL,
    paused_ms INTEGER,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER,
    confirmation_bp INTEGER NOT NULL DEFAULT -1,
    rule TEXT NOT NULL DEFAULT 'none',
    screening TEXT,
    is_verification_chosen INTEGER NOT NULL DEFAULT 0,
    verification_offer_ms INTEGER,
    CHECK (max_payout_cents >= 0 AND total_budget_cents >= 0 AND cpa_cents >= 0)
) STRICT;
CREATE UNIQUE INDEX program_publication ON program (publication_id) WHERE deleted_ms IS NULL;
CREATE INDEX program_account ON program (account_id, created_ms, id) WHERE deleted_ms IS NULL;
-- A partner who joined a program. `account_id` is the partner's, `owner_account_id` the program owner's. `left_ms` is when the partner
-- left, `removed_ms` when the owner removed them.
CREATE TABLE partner_campaign (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    owner_account_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    ref_code TEXT NOT NULL,
    reason_for_recommending TEXT,
    created_ms INTEGER NOT NULL,
    left_ms INTEGER,
    removed_ms INTEGER,
    removed_reason TEXT
) STRICT;
CREATE UNIQUE INDEX partner_campaign_once ON partner_campaign (account_id, program_id);
CREATE UNIQUE INDEX partner_campaign_code ON partner_campaign (ref_code);
CREATE INDEX partner_campaign_program ON partner_campaign (program_id, created_ms, id);
-- A subscriber whom a partner referred, with the fee as it was on arrival. The referral's state is the subscriber's own; here is what
-- it costs, or why nothing. `account_id` is the program owner's.
--   reversal_id, …_reason, …_note   the last reversal of its charge, why, and what the owner wrote; empty once it is verified again
--   rule, screening, hold_until_ms  what it must meet, as its program had it when it came; without a rule, the program had none
--   is_own                          whether partner and owner had a member in common when it came: nobody is paid for these
CREATE TABLE partner_referral (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    partner_campaign_id TEXT NOT NULL REFERENCES partner_campaign (id),
    subscriber_id TEXT NOT NULL REFERENCES subscriber (id),
    person_key TEXT NOT NULL,
    fee_cents INTEGER NOT NULL,
    arrived_ms INTEGER NOT NULL,
    decided_ms INTEGER,
    charged_cents INTEGER,
    charged_month TEXT,
    uncharged_reason TEXT,
    reversal_id TEXT,
    reversal_reason TEXT,
    reversal_note TEXT,
    rule TEXT,
    screening TEXT,
    hold_until_ms INTEGER,
    is_own INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX partner_referral_subscriber ON partner_referral (subscriber_id);
CREATE INDEX partner_referral_program ON partner_referral (program_id, arrived_ms, id);
CREATE INDEX partner_referral_partner ON partner_referral (partner_account_id, arrived_ms, id);
CREATE INDEX partner_referral_open ON partner_referral (partner_campaign_id, arrived_ms) WHERE decided_ms IS NULL;
-- What waits, what was not charged and what was rejected, by program and by partner.
CREATE INDEX partner_referral_waiting ON partner_referral (program_id, partner_campaign_id) WHERE decided_ms IS NULL;
CREATE INDEX partner_referral_expected ON partner_referral (partner_account_id, partner_campaign_id) WHERE decided_ms IS NULL;
CREATE INDEX partner_referral_unspent ON partner_referral (program_id, charged_month) WHERE uncharged_reason IS NOT NULL;
CREATE INDEX partner_referral_unearned ON partner_referral (partner_account_id, charged_month) WHERE uncharged_reason IS NOT NULL;
CREATE INDEX partner_referral_lost ON partner_referral (partner_account_id, decided_ms) WHERE charged_month IS NULL;
CREATE INDEX partner_referral_decided ON partner_referral (program_id, decided_ms) WHERE decided_ms IS NOT NULL;

-- How many of a program's referrals were confirmed or not, by UTC day of the decision: the confirmation rate of 30 days.
CREATE TABLE program_day (
    program_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    verified INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    reversed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (program_id, day)
) STRICT;
-- A closed month takes no more entries. A charge share-locks its month's row, the close locks it exclusively.
--   notified_…    how far accounts were notified of it: owners by program, then partners by account, then administrators
--   digested_ms   when every account had its digest
CREATE TABLE period (
    month TEXT PRIMARY KEY,
    closed_ms INTEGER,
    paid_out_ms INTEGER,
    notified_program TEXT NOT NULL DEFAULT '',
    notified_partner TEXT NOT NULL DEFAULT '',
    notified_ms INTEGER,
    digested_ms INTEGER
) STRICT;

-- What a program spent in a month over all its partners, and what each of its partners earned. There is no copy of the caps to
-- keep in step: whoever charges reads the program's own once they hold the budget's row. `reached_ms` is the latch after which
-- nothing more is charged that month, `nearly_ms` when four fifths were spent.
-- A budget can be reached more than once in a month: its owner raises it, or lowers it to what is spent. Partners are notified each
-- time, at most once a day, and also when a raise reopens it.
--   times_reached         how often it was reached this month; numbers each time
--   reach_notified        the number of the last reach that partners were notified of
--   reopening_notified    the number of the last reach whose reopening partners were notified of
--   partners_notified_ms  when partners were last notified of a reach
CREATE TABLE budget (
    program_id TEXT NOT NULL REFERENCES program (id),
    month TEXT NOT NULL,
    account_id TEXT NOT NULL,
    spent_cents INTEGER NOT NULL DEFAULT 0,
    nearly_ms INTEGER,
    reached_ms INTEGER,
    -- When owner and partners were told; a job does that, since there may be thousands of them.
    told_nearly_ms INTEGER,
    told_reached_ms INTEGER,
    times_reached INTEGER NOT NULL DEFAULT 0,
    reach_notified INTEGER NOT NULL DEFAULT 0,
    reopening_notified INTEGER NOT NULL DEFAULT 0,
    partners_notified_ms INTEGER,
    PRIMARY KEY (program_id, month),
    CHECK (spent_cents >= 0)
) STRICT;
CREATE INDEX budget_nearly ON budget (month, program_id) WHERE nearly_ms IS NOT NULL AND told_nearly_ms IS NULL;
CREATE INDEX budget_reached ON budget (month, program_id) WHERE reached_ms IS NOT NULL AND told_reached_ms IS NULL;
CREATE INDEX budget_reopened ON budget (month, program_id) WHERE reached_ms IS NULL AND reach_notified > reopening_notified;

CREATE TABLE partner_spend (
    partner_campaign_id TEXT NOT NULL REFERENCES partner_campaign (id),
    month TEXT NOT NULL,
    program_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    spent_cents INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (partner_campaign_id, month),
    CHECK (spent_cents >= 0)
) STRICT;
CREATE INDEX partner_spend_program ON partner_spend (program_id, month);
CREATE INDEX partner_spend_partner ON partner_spend (partner_account_id, month);

CREATE TABLE payout (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    month TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    paid_ms INTEGER,
    paid_reference TEXT,
    -- How often it was marked and unmarked: numbers the transfers.
    marks INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL,
    CHECK (amount_cents > 0)
) STRICT;
CREATE UNIQUE INDEX payout_once ON payout (account_id, month);
CREATE INDEX payout_account ON payout (account_id, created_ms, id);
CREATE INDEX payout_month ON payout (month, id);
-- A notification to an operator. `once_key` makes one of a month or a cause come once. `digest_due_ms` is when the daily or weekly
-- email that it waits for is due; null if it waits for none, or was sent.
CREATE TABLE notice (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    kind TEXT NOT NULL,
    once_key TEXT NOT NULL,
    sentence TEXT NOT NULL,
    link TEXT,
    created_ms INTEGER NOT NULL,
    read_ms INTEGER,
    digest_due_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX notice_once ON notice (account_id, once_key);
CREATE INDEX notice_account ON notice (account_id, created_ms, id);
CREATE INDEX notice_digest ON notice (digest_due_ms) WHERE digest_due_ms IS NOT NULL;
-- Who is logged in. `digest` is of a 256-bit token that only the browser holds.
--   user_id       whose session it is; `account_id` is the account that they work in now, and changes when they switch
--   is_kept       "keep me logged in"
--   verified_ms   when they last entered their password or second factor
--   expires_ms    when it ends unless it is used before
CREATE TABLE session (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    digest TEXT NOT NULL,
    user_agent TEXT,
    address TEXT,
    created_ms INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    user_id TEXT REFERENCES login_user (id),
    is_kept INTEGER NOT NULL DEFAULT 0,
    verified_ms INTEGER NOT NULL DEFAULT 0,
    expires_ms INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX session_digest ON session (digest);
CREATE INDEX session_of_user ON session (user_id, seen_ms);
CREATE INDEX session_expires ON session (expires_ms);
-- A link in an email that works once: a forgotten password, or an account to open. `account_id` is who invites; null for somebody who
-- asked for an account by themselves.
--   user_id   whose password the link changes
--   role      of somebody who is invited into the account `account_id`; null for an invitation to an account of one's own
CREATE TABLE ticket (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    kind TEXT NOT NULL,
    account_id TEXT REFERENCES account (id),
    email TEXT,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    used_ms INTEGER,
    as_partner INTEGER NOT NULL DEFAULT 0,
    user_id TEXT REFERENCES login_user (id),
    role TEXT,
    CHECK (kind IN ('password_reset', 'invitation'))
) STRICT;
CREATE UNIQUE INDEX ticket_digest ON ticket (digest);
CREATE INDEX ticket_account ON ticket (account_id, created_ms) WHERE account_id IS NOT NULL;
CREATE INDEX ticket_age ON ticket (expires_ms);

-- How often one address or account was tried in the window that began at `since_ms`.
CREATE TABLE attempt_count (
    subject TEXT PRIMARY KEY,
    since_ms INTEGER NOT NULL,
    n INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_count_age ON attempt_count (since_ms);
-- A file of subscribers on its way in. Its lines are kept in parts, each gone when it is done; `dry` is what a trial found. An import
-- goes over its parts once for each stage, so that a referrer may come after those they referred.
--   next_part, done_lines   the part it is at, and the numbers of that part's lines which are done in this stage
--   gives_rewards           whether rewards that somebody has reached in the other tool are given here, rather than marked as given
--   source                  the key of the tool that the file is from, if it is known
--   dates, date_choice      how its lines write dates, and what the operator says where they do not show it
CREATE TABLE import (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL,
    file_name TEXT NOT NULL,
    header TEXT NOT NULL,
    mapping TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'new',
    total INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    added INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    dry TEXT,
    created_ms INTEGER NOT NULL,
    finished_ms INTEGER,
    stage TEXT NOT NULL DEFAULT 'people',
    next_part INTEGER NOT NULL DEFAULT 0,
    done_lines TEXT NOT NULL DEFAULT '[]',
    gives_rewards INTEGER NOT NULL DEFAULT 0,
    source TEXT NOT NULL DEFAULT '',
    dates TEXT NOT NULL DEFAULT 'iso',
    date_choice TEXT NOT NULL DEFAULT 'day_first',
    CHECK (status IN ('new', 'running', 'done'))
) STRICT;
CREATE INDEX import_account ON import (account_id, created_ms, id);
CREATE INDEX import_running ON import (created_ms) WHERE status = 'running';

CREATE TABLE import_part (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (import_id, n)
) STRICT;

-- Lines that could not be taken, and why: the file to mend.
CREATE TABLE import_error (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    line INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    sentence TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (import_id, line)
) STRICT;

-- Backups that Honeyguide made, or tried to make, at HONEYGUIDE_BACKUP_URL, in real time. `result` is null while one is being made,
-- then ok (restored into a scratch database and verified), unchecked, broken (restored, but verify found errors) or failed; `message`
-- is a sentence about it.
CREATE TABLE backup (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    duration_ms INTEGER,
    bytes INTEGER,
    sha256 TEXT,
    result TEXT CHECK (result IN ('ok', 'unchecked', 'broken', 'failed')),
    message TEXT
) STRICT;
CREATE INDEX backup_started ON backup (started_ms);

-- Who was erased, as ids and the keyed hash of the person: whoever restores an older backup erases them again. `copied_ms` is when the
-- row was copied to HONEYGUIDE_BACKUP_URL, since the database itself may be what is lost.
CREATE TABLE erasure (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    person_key TEXT NOT NULL,
    erased_ms INTEGER NOT NULL,
    copied_ms INTEGER
) STRICT;
CREATE INDEX erasure_uncopied ON erasure (id) WHERE copied_ms IS NULL;
CREATE INDEX erasure_age ON erasure (erased_ms);
-- A consent text as readers saw it. A changed text is a new row: what somebody agreed to never changes.
CREATE TABLE consent_text (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL,
    text TEXT NOT NULL,
    privacy_url TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX consent_text_campaign ON consent_text (campaign_id, created_ms);
-- How the pages and emails of a campaign look. At most one per campaign; without one, pages have the logo of the account's first
-- publication and our colors.
--   icon_id          made from the logo unless somebody uploaded one (icon_is_own)
--   share_id         the picture shown with shared links; made by us unless somebody uploaded one (share_is_own)
--   share_source     a hash of what the picture was made from, so that it is made again only when that changes
--   consent_text_id  null: no checkbox
CREATE TABLE campaign_brand (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    accent TEXT,
    logo_id TEXT REFERENCES logo (id),
    icon_id TEXT REFERENCES logo (id),
    icon_is_own INTEGER NOT NULL DEFAULT 0,
    share_id TEXT REFERENCES logo (id),
    share_is_own INTEGER NOT NULL DEFAULT 0,
    share_source TEXT NOT NULL DEFAULT '',
    privacy_url TEXT,
    imprint_url TEXT,
    consent_text_id TEXT REFERENCES consent_text (id),
    asks_name INTEGER NOT NULL DEFAULT 0,
    language TEXT NOT NULL DEFAULT 'en',
    follow_browser_language INTEGER NOT NULL DEFAULT 0,
    from_name TEXT,
    reply_to TEXT,
    show_leaderboard INTEGER NOT NULL DEFAULT 0,
    show_inviter INTEGER NOT NULL DEFAULT 0,
    changed_ms INTEGER NOT NULL
) STRICT;

-- Who agreed to which text, and when first. Erasing a subscriber deletes their rows.
CREATE TABLE consent (
    subscriber_id TEXT NOT NULL,
    consent_text_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    agreed_ms INTEGER NOT NULL,
    PRIMARY KEY (subscriber_id, consent_text_id)
) STRICT;

-- Subscribers who stopped the emails that nobody asked for. They stay subscribed. Erasing a subscriber deletes the row.
CREATE TABLE email_stop (
    subscriber_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    stopped_ms INTEGER NOT NULL
) STRICT;
-- The list of those who stopped these emails, newest first.
CREATE INDEX email_stop_account ON email_stop (account_id, stopped_ms, subscriber_id);
-- What operators add to find subscribers again: tags, notes and saved filters. Erasing a subscriber deletes their tags and notes, and the
-- saved filters that name them. A tag is lower-case text; it is there as long as somebody has it.
CREATE TABLE subscriber_tag (
    subscriber_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    tagged_ms INTEGER NOT NULL,
    PRIMARY KEY (subscriber_id, tag)
) STRICT;
CREATE INDEX subscriber_tag_name ON subscriber_tag (campaign_id, tag, subscriber_id);

CREATE TABLE subscriber_note (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    text TEXT NOT NULL,
    written_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX subscriber_note_subscriber ON subscriber_note (subscriber_id, written_ms, id);

-- `query` is the part of the URL after the question mark.
CREATE TABLE saved_filter (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    saved_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX saved_filter_name ON saved_filter (campaign_id, name);
-- How an account wants to be notified, where that differs from the default of the kind (`mail/notification_kinds.py`).
CREATE TABLE notification_choice (
    account_id TEXT NOT NULL REFERENCES account (id),
    kind TEXT NOT NULL,
    delivery TEXT NOT NULL,
    to_slack INTEGER NOT NULL,
    PRIMARY KEY (account_id, kind),
    CHECK (delivery IN ('dashboard', 'at_once', 'daily', 'weekly', 'off'))
) STRICT;

-- Where an account's notifications are posted, too. `error` says why posting fails, since `failed_ms`.
CREATE TABLE slack_webhook (
    account_id TEXT PRIMARY KEY REFERENCES account (id),
    encrypted_url TEXT NOT NULL,
    host TEXT NOT NULL,
    error TEXT,
    failed_ms INTEGER
) STRICT;

-- A notification to post. Its row is deleted when it is posted or given up.
CREATE TABLE slack_message (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    sentence TEXT NOT NULL,
    link TEXT NOT NULL,
    due_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    lease_token TEXT
) STRICT;
CREATE INDEX slack_message_due ON slack_message (due_ms);
CREATE INDEX slack_message_account ON slack_message (account_id);

-- Email platforms that a campaign is connected with, at most one per campaign. Disconnecting deletes the row, and with it the key.
--   status         active, paused, or failed: nothing is tried until somebody enters a new key or chooses another list
--   credentials    what the operator entered, encrypted; never shown again
--   key_hint       the last characters of the key, to recognize it by
--   field_names    JSON: what each of our values is called there
--   code_field     the platform's field in which its signup form keeps a referral code
--   adds_existing  whether subscribers from before the connection may be added there too
--   hook_key       the secret part of the URL that the platform's webhooks go to
--   next_call_ms   no request before then: the platform's pace, its Retry-After, or our own wait after failures (real time)
--   pass           the list that is being queued for writing, 'advocates' or 'all', and how far it has come; null: all are queued
--   read_token     the page of the platform's list to read next; read_since_ms what it was asked for, null for everyone
--   fields_ms        when our fields were created again there; what was written before went with the old ones
--   refused_hook     why the last webhook that was not taken was refused; refused_hook_ms when
--   list_read_ms     when the last reading of the whole list that we believe began
--   missing          how many the last reading did not show, if that was too many to believe it; missing_ms when it began
-- A page of a platform's list that makes no sense is tried again, and given up in the end, while webhooks and writes go on.
--   read_tries     how often the page was tried
--   read_problem   why it, or the last reading that was given up, could not be read
--   next_page_ms   not to be tried again before
-- What another tool wrote to the fields that the operator chose. Until they say what is to become of it, no contact is written.
--   adoption         '': contacts are written; 'reading': the first reading of the whole list looks for values; 'asked': it found some,
--                    and the operator has to answer; 'adopting': a job takes them over
--   adoption_answer  'adopt' or 'replace'; '': nobody was asked
CREATE TABLE integration (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL REFERENCES campaign (id),
    platform TEXT NOT NULL,
    status TEXT NOT NULL,
    credentials TEXT NOT NULL,
    key_hint TEXT NOT NULL,
    audience_id TEXT NOT NULL,
    audience_name TEXT NOT NULL,
    field_names TEXT NOT NULL,
    code_field TEXT NOT NULL,
    adds_existing INTEGER NOT NULL,
    hook_key TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    lease_token TEXT,
    leased_until_ms INTEGER NOT NULL DEFAULT 0,
    next_call_ms INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    problem TEXT,
    problem_ms INTEGER,
    pass TEXT,
    pass_ms INTEGER NOT NULL DEFAULT 0,
    pass_id TEXT NOT NULL DEFAULT '',
    is_reading INTEGER NOT NULL DEFAULT 1,
    read_since_ms INTEGER,
    read_token TEXT,
    read_began_ms INTEGER NOT NULL DEFAULT 0,
    next_read_ms INTEGER NOT NULL DEFAULT 0,
    next_full_read_ms INTEGER NOT NULL DEFAULT 0,
    first_sync_ms INTEGER,
    synced INTEGER NOT NULL DEFAULT 0,
    last_in_ms INTEGER,
    last_in_kind TEXT,
    last_out_ms INTEGER,
    last_out_count INTEGER NOT NULL DEFAULT 0,
    fields_ms INTEGER NOT NULL DEFAULT 0,
    refused_hook TEXT,
    refused_hook_ms INTEGER,
    list_read_ms INTEGER NOT NULL DEFAULT 0,
    missing INTEGER NOT NULL DEFAULT 0,
    missing_ms INTEGER NOT NULL DEFAULT 0,
    read_tries INTEGER NOT NULL DEFAULT 0,
    read_problem TEXT,
    next_page_ms INTEGER NOT NULL DEFAULT 0,
    adoption TEXT NOT NULL DEFAULT '' CHECK (adoption IN ('', 'reading', 'asked', 'adopting')),
    adoption_answer TEXT NOT NULL DEFAULT '' CHECK (adoption_answer IN ('', 'adopt', 'replace')),
    CHECK (status IN ('active', 'paused', 'failed')),
    CHECK (pass IN ('advocates', 'all'))
) STRICT;
CREATE UNIQUE INDEX integration_campaign ON integration (campaign_id);
CREATE UNIQUE INDEX integration_hook_key ON integration (hook_key);
-- What the platform has of one subscriber, and what is to be written.
--   remote_id   the platform's ID of them
--   written     JSON: a hash of the address, the status and the fields as they were last written; null: never
--   due_ms      when to write; null: nothing to write; 0: a change, which goes before the first sync
--   reason      why the last try failed; failed_ms when we gave up
--   seen_ms     when the last reading of the whole list that showed them began
--   removed_ms  when the operator asked to remove somebody from the platform who was written there before they confirmed. It is over
--               when they are active there again.
CREATE TABLE integration_subscriber (
    integration_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    remote_id TEXT,
    written TEXT,
    synced_ms INTEGER,
    due_ms INTEGER,
    tries INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    failed_ms INTEGER,
    seen_ms INTEGER,
    removed_ms INTEGER,
    PRIMARY KEY (integration_id, subscriber_id)
) STRICT;
CREATE INDEX integration_subscriber_due ON integration_subscriber (integration_id, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX integration_subscriber_failed ON integration_subscriber (integration_id, failed_ms) WHERE failed_ms IS NOT NULL;
CREATE INDEX integration_subscriber_remote ON integration_subscriber (integration_id, remote_id) WHERE remote_id IS NOT NULL;

-- Webhooks of platforms as they came. The content is dropped once it is applied; the digest stays for a while, so that a repeated
-- one is recognized.
CREATE TABLE integration_event (
    id TEXT PRIMARY KEY,
    integration_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    content TEXT,
    received_ms INTEGER NOT NULL,
    due_ms INTEGER,
    tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX integration_event_digest ON integration_event (integration_id, digest);
CREATE INDEX integration_event_due ON integration_event (integration_id, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX integration_event_age ON integration_event (received_ms);

-- What a campaign's own websites may use. At most one row per campaign; without one, nothing can be embedded.
--   public_id      stands in the website's HTML; it opens nothing but the public endpoints
--   origins        the websites that may call these, one per line, such as https://example.com
--   keep_days      how long a browser keeps the code of a referral; 0: until it is closed
--   form_selector  the operator's own form, if it is not marked in the HTML
CREATE TABLE embed (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    public_id TEXT NOT NULL UNIQUE,
    origins TEXT NOT NULL,
    keep_days INTEGER NOT NULL,
    form_selector TEXT NOT NULL,
    changed_ms INTEGER NOT NULL
) STRICT;

-- The block with each subscriber's own link that an operator puts into every issue, as last tested. At most one per campaign.
CREATE TABLE newsletter_block (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    tool TEXT NOT NULL,
    heading TEXT NOT NULL,
    style TEXT NOT NULL,
    tested_ms INTEGER NOT NULL
) STRICT;

-- People by the day they joined in the account's time zone (2026-11-15), each day counted several times: by `kind`, each with its own
-- keys (referrals/cohorts.sql). `followed` are those whose whole time we know; `left_30` of them unsubscribed within 30 days.
CREATE TABLE cohort_count (
    campaign_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    day TEXT NOT NULL,
    key TEXT NOT NULL,
    account_id TEXT NOT NULL,
    joined INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    followed INTEGER NOT NULL,
    left_30 INTEGER NOT NULL,
    left_90 INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, kind, day, key)
) STRICT;

-- UTC days whose people changed since they were counted; `n` grows with every change.
CREATE TABLE cohort_change (
    campaign_id TEXT NOT NULL,
    day_ms INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, day_ms)
) STRICT;

-- In which zone a campaign's days were cut, and when all of them were last counted.
CREATE TABLE cohort_state (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    zone TEXT NOT NULL,
    built_ms INTEGER
) STRICT;

-- Clicks on all links of an account by the site they came from ('' if the browser does not say), in quarters of an hour, at which
-- every time zone's days begin.
CREATE TABLE click_source (
    account_id TEXT NOT NULL REFERENCES account (id),
    quarter_ms INTEGER NOT NULL,
    host TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (account_id, quarter_ms, host)
) STRICT;

-- Whom screening always rejects (is_blocked) and whom it trusts. `value` is a keyed hash of the person's email address, a domain, or an
-- IP range. `hint` tells the operator which address it was: its first letter and domain. Erasing a subscriber removes the hint.
CREATE TABLE screening_entry (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    is_blocked INTEGER NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    hint TEXT,
    added_ms INTEGER NOT NULL,
    CHECK (kind IN ('email', 'domain', 'ip_range'))
) STRICT;
CREATE UNIQUE INDEX screening_entry_value ON screening_entry (campaign_id, kind, value);

-- Platforms that were disconnected, until a job has deleted what is kept about their subscribers. The key is gone already.
CREATE TABLE disconnected_integration (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL
) STRICT;

-- What a job skips because it failed, and when it is tried again. `item` is an ID or a hash, `error` the type of the error.
CREATE TABLE job_failure (
    job TEXT NOT NULL,
    item TEXT NOT NULL,
    failures INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_ms INTEGER NOT NULL,
    retry_ms INTEGER NOT NULL,
    PRIMARY KEY (job, item)
) STRICT;

-- Background work that failed many times in a row, and when it last did. A row that is not renewed is of a process that ended.
CREATE TABLE failing_loop (
    name TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_ms INTEGER NOT NULL
) STRICT;

-- Every time a referral was decided otherwise than before, and by whom. What was decided when the subscriber came is the
-- `before` of the first row. Rows are only added.
CREATE TABLE referral_decision (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    before_status TEXT NOT NULL,
    before_reason TEXT,
    status TEXT NOT NULL,
    reason TEXT,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    note TEXT,
    decided_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX referral_decision_subscriber ON referral_decision (subscriber_id, id);
-- Who changed what and when: settings, decisions made by hand, and money. `before` and `after` are JSON objects of what differs.
-- `values_hash` is a salted hash of both. Erasing somebody empties both values and the salt; the hash stays, and says nothing without
-- them.
CREATE TABLE change_log (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    action TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    before TEXT,
    after TEXT,
    changed_ms INTEGER NOT NULL,
    salt TEXT,
    values_hash TEXT
) STRICT;
CREATE INDEX change_log_subject ON change_log (subject_id, account_id);
CREATE INDEX change_log_actor ON change_log (actor_id, account_id);
CREATE INDEX change_log_changed ON change_log (changed_ms);
CREATE INDEX change_log_account ON change_log (account_id, changed_ms, id);

-- Every cent. A transfer moves an amount from one ledger account to another, so the ledger sums to zero by construction; nothing in it
-- is ever changed or deleted (the triggers beside this file see to that), corrections are new transfers. `charge` is in the files of
-- the engines, because its checks are written differently.
CREATE TABLE transfer (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    -- What it is for, once: 'charge:<id>', 'reversal:<id>', 'payout:<id>', 'paid:<payout>:<n>', 'unpaid:<payout>:<n>'.
    reference TEXT NOT NULL,
    debit TEXT NOT NULL,
    credit TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    month TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    CHECK (kind IN ('charge', 'reversal', 'payout', 'paid', 'unpaid')),
    CHECK (amount_cents > 0),
    CHECK (debit <> credit)
) STRICT;
CREATE UNIQUE INDEX transfer_reference ON transfer (reference);
-- Holds all that a month's payouts are made of: they are summed from the index alone.
CREATE INDEX transfer_earned ON transfer (month, kind, credit, amount_cents);
CREATE INDEX transfer_debit ON transfer (month, debit);
CREATE INDEX transfer_reversed ON transfer (month, debit, amount_cents) WHERE kind = 'reversal';

-- Whom an owner (`account_id`) keeps out of all their programs, also of those that do not exist yet.
CREATE TABLE partner_block (
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    reason TEXT,
    blocked_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, partner_account_id)
) STRICT;

-- What an operator did on the dashboard and can still undo. When it is due, a job deletes the row and does it in the same transaction.
-- `subject_state` is what the subject was when it was asked for: if that changed, it is not done. Rows of one `batch_id` were asked
-- for together. `arguments` is a JSON object.
CREATE TABLE delayed_action (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    batch_id TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject_state TEXT NOT NULL,
    arguments TEXT NOT NULL,
    due_ms INTEGER NOT NULL
) STRICT;
-- A second tab finds what the first asked for.
CREATE UNIQUE INDEX delayed_action_subject ON delayed_action (subject_id, account_id);
CREATE INDEX delayed_action_batch ON delayed_action (account_id, batch_id);
CREATE INDEX delayed_action_due ON delayed_action (due_ms);

-- What an operator adds to an advocate's progress toward rewards, or takes off. Rows are only added. What they add up to is with
-- the subscriber, who is read far more often.
CREATE TABLE adjustment (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    subscriber_created_ms INTEGER NOT NULL,
    amount INTEGER NOT NULL CHECK (amount <> 0),
    reason TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    adjusted_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX adjustment_subscriber ON adjustment (subscriber_id, id);
-- For a new reward, which looks for those who have reached it already: not all of them are advocates.
CREATE INDEX adjustment_campaign ON adjustment (campaign_id, subscriber_created_ms, subscriber_id);
-- What became of a program's referrals in 90 days, counted once a day. Of the newest referrals of 30 days (`arrived_30d`), `held_30d` is
-- how many the screening level kept from counting: it is not public.
CREATE TABLE program_figures (
    program_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    reversed INTEGER NOT NULL,
    unreviewed INTEGER NOT NULL,
    -- Half of them were decided faster.
    median_ms INTEGER NOT NULL,
    arrived_30d INTEGER NOT NULL DEFAULT 0,
    held_30d INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Signup forms that were used, each by its token, so that one form makes one signup. `mailbox_hash` is a keyed hash of the email
-- address: who sends the form again gets the first answer again. A row is deleted once its token has expired.
CREATE TABLE used_form (
    token_hash TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    mailbox_hash TEXT NOT NULL,
    used_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX used_form_age ON used_form (used_ms);

-- What speaks for or against a referral. `points` are against it; below zero they are for it. The value is forgotten some
-- time after the decision.
CREATE TABLE evidence (
    subscriber_id TEXT NOT NULL,
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    points INTEGER NOT NULL,
    value TEXT,
    found_ms INTEGER NOT NULL,
    PRIMARY KEY (subscriber_id, code)
) STRICT;
CREATE INDEX evidence_value ON evidence (found_ms) WHERE value IS NOT NULL;

-- Referral codes with which somebody came, until a job has looked at what those who came with it have in common.
CREATE TABLE code_look (
    campaign_id TEXT NOT NULL,
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, code)
) STRICT;
CREATE INDEX code_look_since ON code_look (since_ms);

-- Referral codes whose confirmation emails waited at some time. While some do, `look_ms` is when a job looks again whether they
-- may go. `released_ms` is when the owner last sent all that waited.
CREATE TABLE confirmation_brake (
    campaign_id TEXT NOT NULL,
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    look_ms INTEGER,
    released_ms INTEGER,
    PRIMARY KEY (campaign_id, code)
) STRICT;
CREATE INDEX confirmation_brake_look ON confirmation_brake (look_ms) WHERE look_ms IS NOT NULL;

-- Codes that a subscriber has besides `subscriber.ref_code`: those of another tool, and those that somebody chose. Unique in the
-- campaign as they are written; `folded` is in lower case. They are never freed: an erasure leaves a keyed hash.
CREATE TABLE subscriber_code (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL REFERENCES subscriber (id),
    code TEXT NOT NULL,
    folded TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('imported', 'chosen')),
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX subscriber_code_once ON subscriber_code (campaign_id, code);
CREATE INDEX subscriber_code_folded ON subscriber_code (campaign_id, folded);
CREATE INDEX subscriber_code_of ON subscriber_code (subscriber_id, created_ms);
-- Of two who choose the same code at the same moment, in whatever case, one is refused. Imported codes may differ in case only.
CREATE UNIQUE INDEX subscriber_code_chosen ON subscriber_code (campaign_id, folded) WHERE source = 'chosen';

-- What became otherwise than a line says, though its subscriber was imported. Nothing personal: `detail` is a number.
CREATE TABLE import_finding (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    detail INTEGER,
    PRIMARY KEY (import_id, line, kind)
) STRICT;

-- Who has which ID in the tool that a file is from, for the lines that name a referrer by it. Deleted when the import is done.
CREATE TABLE import_own_id (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    own_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    PRIMARY KEY (import_id, own_id)
) STRICT;
CREATE INDEX import_own_id_subscriber ON import_own_id (subscriber_id);

-- Host names of an account's own that serve its links. A host is the account's while `verified_ms` is set; until then any number of
-- accounts may ask for it. `seen_ms` is when its TXT record was last found, `due_ms` when it is looked up next.
CREATE TABLE link_host (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL REFERENCES campaign (id),
    host TEXT NOT NULL,
    token TEXT NOT NULL,
    verified_ms INTEGER,
    seen_ms INTEGER,
    checked_ms INTEGER,
    problem TEXT,
    due_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX link_host_once ON link_host (account_id, host);
CREATE UNIQUE INDEX link_host_verified ON link_host (host) WHERE verified_ms IS NOT NULL;
CREATE INDEX link_host_due ON link_host (due_ms);

-- The Ed25519 keys that this installation signs documents with. One of them is current; `is_current` of the others is null, and they
-- stay so that the installation still knows the documents it signed with them. The private key is encrypted with the secret key.
CREATE TABLE installation_key (
    id TEXT PRIMARY KEY,
    public_key TEXT NOT NULL UNIQUE,
    private_key TEXT NOT NULL,
    is_current INTEGER UNIQUE CHECK (is_current = 1),
    created_ms INTEGER NOT NULL,
    retired_ms INTEGER
) STRICT;

-- What a contact's fields said. A null was empty, or is no field of ours.
--   code_field, link_field  the names of the fields in which the code and the link were; there they stay as they are
--   others                  how many other fields of ours were filled
--   state                   'found'; 'adopted'; 'refused': the code stays there, but does not count, for the reason in `problem`
CREATE TABLE adoption_value (
    integration_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    code TEXT,
    code_field TEXT NOT NULL,
    link TEXT,
    link_field TEXT NOT NULL,
    referrals TEXT,
    reward TEXT,
    coupon TEXT,
    others INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('found', 'adopted', 'refused')),
    problem TEXT,
    PRIMARY KEY (integration_id, subscriber_id)
) STRICT;
CREATE INDEX adoption_value_state ON adoption_value (integration_id, state, subscriber_id);

-- An import whose lines come from another service's API: where the fetch has got to. The place moves in the transaction that stores
-- what was fetched. `secret` is the key there, encrypted; empty if it is not kept, and once all is fetched.
CREATE TABLE remote_fetch (
    import_id TEXT PRIMARY KEY REFERENCES import (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    base_url TEXT NOT NULL,
    secret TEXT NOT NULL DEFAULT '',
    stage TEXT NOT NULL CHECK (stage IN ('people', 'payouts', 'partner_campaigns', 'publications', 'partner_programs', 'done')),
    round INTEGER NOT NULL DEFAULT 1,
    page INTEGER NOT NULL DEFAULT 1,
    parts INTEGER NOT NULL DEFAULT 0,
    fetched INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    next_ms INTEGER NOT NULL DEFAULT 0,
    is_stopped INTEGER NOT NULL DEFAULT 0,
    problem TEXT NOT NULL DEFAULT '',
    not_understood TEXT NOT NULL DEFAULT '{}',
    says_who_left INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX remote_fetch_due ON remote_fetch (next_ms) WHERE secret <> '' AND is_stopped = 0;
CREATE INDEX remote_fetch_of ON remote_fetch (account_id, created_ms);

-- Who was fetched, while it goes on: the list moves while people join and leave.
CREATE TABLE fetched_person (
    import_id TEXT NOT NULL REFERENCES remote_fetch (import_id) ON DELETE CASCADE,
    uuid TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (import_id, uuid)
) STRICT;

-- What another service said about publications, programs and payouts: to read, never part of the ledger. `made_id` is the publication
-- or program that was created here from it; `note` says why there is none.
CREATE TABLE moved_document (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('payouts', 'partner_campaigns', 'publications', 'partner_programs')),
    base_url TEXT NOT NULL,
    uuid TEXT NOT NULL,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    made_id TEXT,
    note TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX moved_document_once ON moved_document (account_id, kind, base_url, uuid);

-- An import compared with its file, part by part, and the signed document that says what was found. `tally` is what was found so far;
-- `document` is empty until the last part was compared. Nothing personal: only counts and the numbers of lines. It outlives the import.
CREATE TABLE certificate (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    import_id TEXT NOT NULL,
    next_part INTEGER NOT NULL DEFAULT 0,
    tally TEXT NOT NULL,
    document TEXT NOT NULL DEFAULT '',
    started_ms INTEGER NOT NULL,
    made_ms INTEGER
) STRICT;
CREATE INDEX certificate_of ON certificate (account_id, import_id, started_ms);
CREATE INDEX certificate_running ON certificate (started_ms) WHERE made_ms IS NULL;

-- What was in the ledger and the change log of a closed month, as a digest that anyone can keep.
--   previous    the digest of the account's month before; empty for the first
--   ledger      SHA-256 of what the ledger has of the account in this month
--   log         SHA-256 of the change log
--   digest      SHA-256 of all these
--   until_ms    the first moment after the month; what is logged later belongs to a later month, whatever the clock says
CREATE TABLE month_digest (
    account_id TEXT NOT NULL REFERENCES account (id),
    month TEXT NOT NULL,
    previous TEXT NOT NULL,
    ledger TEXT NOT NULL,
    log TEXT NOT NULL,
    digest TEXT NOT NULL,
    until_ms INTEGER NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, month)
) STRICT;
--   secret       of the authenticator app, encrypted with HONEYGUIDE_SECRET_KEY
--   last_step    the latest 30 seconds whose code was used: a code works once
CREATE TABLE second_factor (
    user_id TEXT PRIMARY KEY REFERENCES login_user (id),
    secret TEXT NOT NULL,
    last_step INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE recovery_code (
    user_id TEXT NOT NULL REFERENCES login_user (id),
    digest TEXT NOT NULL,
    PRIMARY KEY (user_id, digest)
) STRICT;
-- A change of email that both addresses confirm. The digests are of the links in the emails to them.
CREATE TABLE email_change (
    user_id TEXT PRIMARY KEY REFERENCES login_user (id),
    email TEXT NOT NULL,
    old_digest TEXT NOT NULL,
    new_digest TEXT NOT NULL,
    old_confirmed_ms INTEGER,
    new_confirmed_ms INTEGER,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX email_change_old ON email_change (old_digest);
CREATE UNIQUE INDEX email_change_new ON email_change (new_digest);
CREATE INDEX email_change_expires ON email_change (expires_ms);
