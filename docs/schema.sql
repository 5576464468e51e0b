-- The schema of a SQLite database, to read. `make schema` writes this file from the migrations in
-- src/honeyguide/store/migrations, which create the database and say what the columns mean.
-- PostgreSQL has the same tables, with BIGINT for INTEGER and its own triggers, and two more for
-- the rate limit.

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
    forgotten_ms INTEGER,
    link_version INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX account_closes ON account (closes_ms) WHERE closes_ms IS NOT NULL AND emptied_ms IS NULL;
CREATE INDEX account_emptied ON account (emptied_ms) WHERE emptied_ms IS NOT NULL AND forgotten_ms IS NULL;
CREATE INDEX account_paused ON account (id) WHERE paused_ms IS NOT NULL;
CREATE INDEX account_weekly ON account (weekly_due_ms);
CREATE TRIGGER account_moves AFTER UPDATE OF email ON account
WHEN OLD.email <> NEW.email BEGIN
    UPDATE account SET link_version = link_version + 1 WHERE id = NEW.id;
END;

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
CREATE INDEX adjustment_campaign ON adjustment (campaign_id, subscriber_created_ms, subscriber_id);
CREATE INDEX adjustment_subscriber ON adjustment (subscriber_id, id);

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

CREATE TABLE advocate (
    subscriber_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    verified INTEGER NOT NULL,
    on_leaderboard INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX advocate_best ON advocate (campaign_id, verified, subscriber_id);
CREATE INDEX advocate_leaderboard ON advocate (campaign_id, verified, subscriber_id) WHERE on_leaderboard = 1;

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
    warned_ms INTEGER,
    made_by TEXT
) STRICT;
CREATE INDEX api_key_account ON api_key (account_id, created_ms);
CREATE UNIQUE INDEX api_key_digest ON api_key (digest);
CREATE INDEX api_key_expires ON api_key (expires_ms) WHERE expires_ms IS NOT NULL AND warned_ms IS NULL AND replaced_by IS NULL AND revoked_ms IS NULL;

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

CREATE TABLE attempt_count (
    subject TEXT PRIMARY KEY,
    since_ms INTEGER NOT NULL,
    n INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_count_age ON attempt_count (since_ms);

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

CREATE TABLE budget (
    program_id TEXT NOT NULL REFERENCES program (id),
    month TEXT NOT NULL,
    account_id TEXT NOT NULL,
    spent_cents INTEGER NOT NULL DEFAULT 0,
    nearly_ms INTEGER,
    reached_ms INTEGER,
    told_nearly_ms INTEGER,
    told_reached_ms INTEGER,
    times_reached INTEGER NOT NULL DEFAULT 0,
    reach_notified INTEGER NOT NULL DEFAULT 0,
    reopening_notified INTEGER NOT NULL DEFAULT 0,
    partners_notified_ms INTEGER,
    reached_cents INTEGER NOT NULL DEFAULT -1,
    overrun_cents INTEGER NOT NULL DEFAULT -1,
    overrun_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (program_id, month),
    CHECK (spent_cents >= 0)
) STRICT;
CREATE INDEX budget_nearly ON budget (month, program_id) WHERE nearly_ms IS NOT NULL AND told_nearly_ms IS NULL;
CREATE INDEX budget_reached ON budget (month, program_id) WHERE reached_ms IS NOT NULL AND told_reached_ms IS NULL;
CREATE INDEX budget_reopened ON budget (month, program_id) WHERE reached_ms IS NULL AND reach_notified > reopening_notified;

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
CREATE TRIGGER campaign_takes_slug AFTER INSERT ON campaign BEGIN
    INSERT INTO slug (slug, account_id, kind, target_id) VALUES (NEW.slug, NEW.account_id, 'campaign', NEW.id);
END;

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
CREATE INDEX change_log_account ON change_log (account_id, changed_ms, id);
CREATE INDEX change_log_actor ON change_log (actor_id, account_id);
CREATE INDEX change_log_changed ON change_log (changed_ms);
CREATE INDEX change_log_subject ON change_log (subject_id, account_id);

CREATE TABLE charge (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    partner_campaign_id TEXT NOT NULL REFERENCES partner_campaign (id),
    partner_referral_id TEXT NOT NULL REFERENCES partner_referral (id),
    person_key TEXT NOT NULL,
    person_step INTEGER NOT NULL,
    month TEXT NOT NULL,
    fee_cents INTEGER NOT NULL,
    budget_step INTEGER NOT NULL,
    budget_spent_cents INTEGER NOT NULL,
    budget_cap_cents INTEGER NOT NULL,
    partner_step INTEGER NOT NULL,
    partner_spent_cents INTEGER NOT NULL,
    partner_cap_cents INTEGER NOT NULL,
    reverses_id TEXT REFERENCES charge (id),
    reversal_reason TEXT,
    created_ms INTEGER NOT NULL,
    CHECK (fee_cents <> 0),
    CHECK ((fee_cents < 0) = (reverses_id IS NOT NULL)),
    CHECK ((fee_cents < 0) = (reversal_reason IS NOT NULL)),
    CHECK ((fee_cents > 0) = (person_step % 2 = 1)),
    CHECK (account_id <> partner_account_id),
    CHECK (budget_spent_cents >= MAX(fee_cents, 0) AND (fee_cents < 0 OR budget_spent_cents <= budget_cap_cents)),
    CHECK (partner_spent_cents >= MAX(fee_cents, 0) AND (fee_cents < 0 OR partner_spent_cents <= partner_cap_cents))
) STRICT;
CREATE UNIQUE INDEX charge_budget_step ON charge (program_id, month, budget_step);
CREATE UNIQUE INDEX charge_once ON charge (program_id, person_key, person_step);
CREATE INDEX charge_owner ON charge (account_id, month, created_ms, id);
CREATE INDEX charge_partner ON charge (partner_account_id, month, created_ms, id);
CREATE UNIQUE INDEX charge_partner_step ON charge (partner_campaign_id, month, partner_step);
CREATE UNIQUE INDEX charge_reversed ON charge (reverses_id) WHERE reverses_id IS NOT NULL;
CREATE TRIGGER charge_is_kept BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_is_not_replaced BEFORE INSERT ON charge
WHEN EXISTS (SELECT 1 FROM charge WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM charge WHERE program_id = NEW.program_id AND person_key = NEW.person_key AND person_step = NEW.person_step)
  OR EXISTS (SELECT 1 FROM charge WHERE program_id = NEW.program_id AND month = NEW.month AND budget_step = NEW.budget_step)
  OR EXISTS (SELECT 1 FROM charge WHERE partner_campaign_id = NEW.partner_campaign_id AND month = NEW.month
             AND partner_step = NEW.partner_step)
  OR EXISTS (SELECT 1 FROM charge WHERE reverses_id = NEW.reverses_id)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_stays BEFORE UPDATE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TABLE claim (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    name TEXT,
    ip_address TEXT,
    network TEXT,
    user_agent TEXT,
    utm_source TEXT,
    utm_campaign TEXT,
    claimed_code TEXT,
    due_ms INTEGER
) STRICT;
CREATE INDEX claim_due ON claim (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX claim_of ON claim (subscriber_id, id);

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

CREATE TABLE click_source (
    account_id TEXT NOT NULL REFERENCES account (id),
    quarter_ms INTEGER NOT NULL,
    host TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (account_id, quarter_ms, host)
) STRICT;

CREATE TABLE code_look (
    campaign_id TEXT NOT NULL,
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, code)
) STRICT;
CREATE INDEX code_look_since ON code_look (since_ms);

CREATE TABLE cohort_change (
    campaign_id TEXT NOT NULL,
    day_ms INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, day_ms)
) STRICT;

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

CREATE TABLE cohort_state (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    zone TEXT NOT NULL,
    built_ms INTEGER
) STRICT;

CREATE TABLE confirmation_brake (
    campaign_id TEXT NOT NULL,
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    look_ms INTEGER,
    released_ms INTEGER,
    PRIMARY KEY (campaign_id, code)
) STRICT;
CREATE INDEX confirmation_brake_look ON confirmation_brake (look_ms) WHERE look_ms IS NOT NULL;

CREATE TABLE consent (
    subscriber_id TEXT NOT NULL,
    consent_text_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    agreed_ms INTEGER NOT NULL,
    PRIMARY KEY (subscriber_id, consent_text_id)
) STRICT;

CREATE TABLE consent_text (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL,
    text TEXT NOT NULL,
    privacy_url TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX consent_text_campaign ON consent_text (campaign_id, created_ms);

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

CREATE TABLE coupon (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    reward_id TEXT NOT NULL REFERENCES reward (id),
    code TEXT NOT NULL,
    won_id TEXT REFERENCES won_reward (id)
) STRICT;
CREATE UNIQUE INDEX coupon_code ON coupon (reward_id, code);
CREATE INDEX coupon_free ON coupon (reward_id, id) WHERE won_id IS NULL;
CREATE UNIQUE INDEX coupon_won ON coupon (won_id) WHERE won_id IS NOT NULL;

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
CREATE INDEX delayed_action_batch ON delayed_action (account_id, batch_id);
CREATE INDEX delayed_action_due ON delayed_action (due_ms);
CREATE UNIQUE INDEX delayed_action_subject ON delayed_action (subject_id, account_id);

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
CREATE INDEX delivery_due ON delivery (webhook_id, due_ms) WHERE status = 'pending';
CREATE INDEX delivery_failed ON delivery (webhook_id, created_ms, id) WHERE status = 'failed';
CREATE INDEX delivery_log ON delivery (account_id, webhook_id, created_ms, id);
CREATE UNIQUE INDEX delivery_once ON delivery (event_id, webhook_id);

CREATE TABLE disconnected_integration (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL
) STRICT;

CREATE TABLE earlier_person_key (
    earlier_key TEXT NOT NULL PRIMARY KEY,
    person_key TEXT NOT NULL
) STRICT;
CREATE INDEX earlier_person_key_of ON earlier_person_key (person_key);

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
CREATE INDEX email_change_expires ON email_change (expires_ms);
CREATE UNIQUE INDEX email_change_new ON email_change (new_digest);
CREATE UNIQUE INDEX email_change_old ON email_change (old_digest);

CREATE TABLE email_stop (
    subscriber_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    stopped_ms INTEGER NOT NULL,
    is_final INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX email_stop_account ON email_stop (account_id, stopped_ms, subscriber_id);

CREATE TABLE embed (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    public_id TEXT NOT NULL UNIQUE,
    origins TEXT NOT NULL,
    keep_days INTEGER NOT NULL,
    form_selector TEXT NOT NULL,
    changed_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE erasure (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    person_key TEXT NOT NULL,
    erased_ms INTEGER NOT NULL,
    copied_ms INTEGER
) STRICT;
CREATE INDEX erasure_age ON erasure (erased_ms);
CREATE INDEX erasure_uncopied ON erasure (id) WHERE copied_ms IS NULL;

CREATE TABLE event (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT,
    subscriber_id TEXT,
    referrer_id TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX event_age ON event (created_ms);
CREATE INDEX event_referrer ON event (referrer_id) WHERE referrer_id IS NOT NULL;
CREATE INDEX event_subscriber ON event (subscriber_id) WHERE subscriber_id IS NOT NULL;

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

CREATE TABLE failing_loop (
    name TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE fetched_person (
    import_id TEXT NOT NULL REFERENCES remote_fetch (import_id) ON DELETE CASCADE,
    uuid TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (import_id, uuid)
) STRICT;

CREATE TABLE first_look (
    id TEXT PRIMARY KEY REFERENCES partner_campaign (id),
    account_id TEXT NOT NULL REFERENCES account (id),
    program_id TEXT NOT NULL REFERENCES program (id),
    allowed INTEGER NOT NULL,
    counted INTEGER NOT NULL DEFAULT 0,
    looks INTEGER NOT NULL DEFAULT 0,
    asked_ms INTEGER,
    postponed_ms INTEGER,
    reminded INTEGER NOT NULL DEFAULT 0,
    paused_ms INTEGER,
    looked_ms INTEGER,
    looked_by TEXT,
    refused_ms INTEGER,
    approved TEXT,
    compared INTEGER NOT NULL DEFAULT 0,
    CHECK (counted >= 0 AND counted <= allowed)
) STRICT;
CREATE INDEX first_look_account ON first_look (account_id, asked_ms);
CREATE INDEX first_look_asked ON first_look (asked_ms) WHERE asked_ms IS NOT NULL;
CREATE INDEX first_look_program ON first_look (program_id);

CREATE TABLE first_look_month (
    program_id TEXT NOT NULL REFERENCES program (id),
    month TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    fees INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (program_id, month),
    CHECK (fees BETWEEN 0 AND 30)
) STRICT;

CREATE TABLE flooded_account (
    account_id TEXT PRIMARY KEY REFERENCES account (id),
    since_ms INTEGER NOT NULL
);

CREATE TABLE form_code (
    code TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX form_code_of ON form_code (subscriber_id);

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

CREATE TABLE import_error (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    line INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    sentence TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (import_id, line)
) STRICT;

CREATE TABLE import_finding (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    detail INTEGER,
    PRIMARY KEY (import_id, line, kind)
) STRICT;

CREATE TABLE import_own_id (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    own_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    PRIMARY KEY (import_id, own_id)
) STRICT;
CREATE INDEX import_own_id_subscriber ON import_own_id (subscriber_id);

CREATE TABLE import_part (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (import_id, n)
) STRICT;

CREATE TABLE installation_key (
    id TEXT PRIMARY KEY,
    public_key TEXT NOT NULL UNIQUE,
    private_key TEXT NOT NULL,
    is_current INTEGER UNIQUE CHECK (is_current = 1),
    created_ms INTEGER NOT NULL,
    retired_ms INTEGER
) STRICT;

CREATE TABLE instance (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

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
CREATE INDEX integration_event_age ON integration_event (received_ms);
CREATE UNIQUE INDEX integration_event_digest ON integration_event (integration_id, digest);
CREATE INDEX integration_event_due ON integration_event (integration_id, due_ms) WHERE due_ms IS NOT NULL;

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

CREATE TABLE job_failure (
    job TEXT NOT NULL,
    item TEXT NOT NULL,
    failures INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_ms INTEGER NOT NULL,
    retry_ms INTEGER NOT NULL,
    PRIMARY KEY (job, item)
) STRICT;

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
    has_worked INTEGER NOT NULL DEFAULT 0,
    CHECK (due_ms IS NULL OR (sent_ms IS NULL AND failed_ms IS NULL)),
    CHECK (due_ms IS NULL OR (to_email IS NOT NULL AND subject IS NOT NULL AND body_text IS NOT NULL))
) STRICT;
CREATE INDEX letter_about ON letter (account_id, about_id, created_ms) WHERE about_id IS NOT NULL;
CREATE INDEX letter_account ON letter (account_id, created_ms, id);
CREATE INDEX letter_bounced ON letter (account_id, mailbox) WHERE bounced = 1;
CREATE INDEX letter_due ON letter (waited_for DESC, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX letter_held ON letter (account_id, held_code, created_ms) WHERE held_code IS NOT NULL;
CREATE INDEX letter_kept ON letter (created_ms) WHERE body_text IS NOT NULL AND due_ms IS NULL;
CREATE INDEX letter_mailbox ON letter (mailbox, created_ms) WHERE mailbox IS NOT NULL;
CREATE UNIQUE INDEX letter_once ON letter (account_id, once_key) WHERE once_key IS NOT NULL;
CREATE INDEX letter_unsent ON letter (created_ms) WHERE due_ms IS NOT NULL;

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
CREATE INDEX link_host_due ON link_host (due_ms);
CREATE UNIQUE INDEX link_host_once ON link_host (account_id, host);
CREATE UNIQUE INDEX link_host_verified ON link_host (host) WHERE verified_ms IS NOT NULL;

CREATE TABLE link_request (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    email TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    CHECK (kind IN ('password', 'account'))
) STRICT;

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

CREATE TABLE login_user (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    name TEXT,
    password_hash TEXT,
    created_ms INTEGER NOT NULL,
    proven_ms INTEGER,
    must_prove INTEGER NOT NULL DEFAULT 0,
    logged_in_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX login_user_email ON login_user (email_key);

CREATE TABLE logo (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    content_type TEXT NOT NULL,
    data BLOB,
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE mail_host (
    domain TEXT PRIMARY KEY,
    mx_domain TEXT,
    network TEXT,
    wanted_ms INTEGER NOT NULL,
    looked_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX mail_host_wanted ON mail_host (wanted_ms);

CREATE TABLE mail_host_default (
    is_off INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE member (
    account_id TEXT NOT NULL REFERENCES account (id),
    user_id TEXT NOT NULL REFERENCES login_user (id),
    role TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, user_id),
    CHECK (role IN ('owner', 'editor', 'finance', 'analyst'))
) STRICT;
CREATE INDEX member_user ON member (user_id, created_ms, account_id);

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

CREATE TABLE newsletter_block (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    tool TEXT NOT NULL,
    heading TEXT NOT NULL,
    style TEXT NOT NULL,
    tested_ms INTEGER NOT NULL
) STRICT;

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
CREATE INDEX notice_account ON notice (account_id, created_ms, id);
CREATE INDEX notice_digest ON notice (digest_due_ms) WHERE digest_due_ms IS NOT NULL;
CREATE UNIQUE INDEX notice_once ON notice (account_id, once_key);

CREATE TABLE notification_choice (
    account_id TEXT NOT NULL REFERENCES account (id),
    kind TEXT NOT NULL,
    delivery TEXT NOT NULL,
    to_slack INTEGER NOT NULL,
    PRIMARY KEY (account_id, kind),
    CHECK (delivery IN ('dashboard', 'at_once', 'daily', 'weekly', 'off'))
) STRICT;

CREATE TABLE partner_block (
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    reason TEXT,
    blocked_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, partner_account_id)
) STRICT;

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
CREATE UNIQUE INDEX partner_campaign_code ON partner_campaign (ref_code);
CREATE UNIQUE INDEX partner_campaign_once ON partner_campaign (account_id, program_id);
CREATE INDEX partner_campaign_program ON partner_campaign (program_id, created_ms, id);

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
    is_own INTEGER NOT NULL DEFAULT 0,
    confirmed_person_key TEXT,
    budget_cents INTEGER NOT NULL DEFAULT 0,
    cap_cents INTEGER NOT NULL DEFAULT 0,
    without_stop TEXT,
    was_allowed INTEGER NOT NULL DEFAULT 0,
    look_id TEXT,
    first_look INTEGER,
    team_act TEXT,
    returned TEXT,
    returned_ms INTEGER
) STRICT;
CREATE INDEX partner_referral_confirmed_person ON partner_referral (account_id, confirmed_person_key)
WHERE confirmed_person_key IS NOT NULL;
CREATE INDEX partner_referral_decided ON partner_referral (program_id, decided_ms) WHERE decided_ms IS NOT NULL;
CREATE INDEX partner_referral_expected ON partner_referral (partner_account_id, partner_campaign_id) WHERE decided_ms IS NULL;
CREATE INDEX partner_referral_look ON partner_referral (look_id, arrived_ms) WHERE look_id IS NOT NULL;
CREATE INDEX partner_referral_lost ON partner_referral (partner_account_id, decided_ms) WHERE charged_month IS NULL;
CREATE INDEX partner_referral_open ON partner_referral (partner_campaign_id, arrived_ms) WHERE decided_ms IS NULL;
CREATE INDEX partner_referral_partner ON partner_referral (partner_account_id, arrived_ms, id);
CREATE INDEX partner_referral_program ON partner_referral (program_id, arrived_ms, id);
CREATE INDEX partner_referral_returned ON partner_referral (account_id, charged_month) WHERE returned IS NOT NULL;
CREATE UNIQUE INDEX partner_referral_subscriber ON partner_referral (subscriber_id);
CREATE INDEX partner_referral_team_act ON partner_referral (account_id) WHERE team_act IS NOT NULL AND decided_ms IS NULL;
CREATE INDEX partner_referral_unearned ON partner_referral (partner_account_id, charged_month) WHERE uncharged_reason IS NOT NULL;
CREATE INDEX partner_referral_unspent ON partner_referral (program_id, charged_month) WHERE uncharged_reason IS NOT NULL;
CREATE INDEX partner_referral_waiting ON partner_referral (program_id, partner_campaign_id) WHERE decided_ms IS NULL;

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
CREATE INDEX partner_spend_partner ON partner_spend (partner_account_id, month);
CREATE INDEX partner_spend_program ON partner_spend (program_id, month);

CREATE TABLE payout (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    month TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    paid_ms INTEGER,
    paid_reference TEXT,
    marks INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL,
    CHECK (amount_cents > 0)
) STRICT;
CREATE INDEX payout_account ON payout (account_id, created_ms, id);
CREATE INDEX payout_month ON payout (month, id);
CREATE UNIQUE INDEX payout_once ON payout (account_id, month);

CREATE TABLE period (
    month TEXT PRIMARY KEY,
    closed_ms INTEGER,
    paid_out_ms INTEGER,
    notified_program TEXT NOT NULL DEFAULT '',
    notified_partner TEXT NOT NULL DEFAULT '',
    notified_ms INTEGER,
    digested_ms INTEGER
) STRICT;
CREATE TRIGGER period_is_kept BEFORE DELETE ON period WHEN OLD.closed_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;
CREATE TRIGGER period_stays_closed BEFORE UPDATE OF month, closed_ms ON period WHEN OLD.closed_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;

CREATE TABLE person_rekeying (
    campaign_id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    after_ms INTEGER NOT NULL DEFAULT -9223372036854775807,
    after_id TEXT NOT NULL DEFAULT ''
) STRICT;

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
    stopped_ms INTEGER,
    first_look INTEGER,
    CHECK (max_payout_cents >= 0 AND total_budget_cents >= 0 AND cpa_cents >= 0)
) STRICT;
CREATE INDEX program_account ON program (account_id, created_ms, id) WHERE deleted_ms IS NULL;
CREATE UNIQUE INDEX program_publication ON program (publication_id) WHERE deleted_ms IS NULL;

CREATE TABLE program_day (
    program_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    verified INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    reversed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (program_id, day)
) STRICT;

CREATE TABLE program_figures (
    program_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    reversed INTEGER NOT NULL,
    unreviewed INTEGER NOT NULL,
    median_ms INTEGER NOT NULL,
    arrived_30d INTEGER NOT NULL DEFAULT 0,
    held_30d INTEGER NOT NULL DEFAULT 0,
    ended_by_team INTEGER NOT NULL DEFAULT 0,
    ended_by_readers INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE program_look (
    program_id TEXT PRIMARY KEY REFERENCES program (id),
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    since_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX program_look_since ON program_look (since_ms);

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

CREATE TABLE recovery_code (
    user_id TEXT NOT NULL REFERENCES login_user (id),
    digest TEXT NOT NULL,
    PRIMARY KEY (user_id, digest)
) STRICT;

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
CREATE INDEX reward_physical ON reward (campaign_id, referrals, id) WHERE kind = 'physical';
CREATE INDEX reward_refill ON reward (waiting) WHERE waiting > 0;
CREATE INDEX reward_walk ON reward (walk_ms) WHERE walk_ms IS NOT NULL;

CREATE TABLE saved_filter (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    saved_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX saved_filter_name ON saved_filter (campaign_id, name);

CREATE TABLE schema_migration (
    name TEXT PRIMARY KEY,
    checksum TEXT,
    works_with TEXT
);

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

CREATE TABLE second_factor (
    user_id TEXT PRIMARY KEY REFERENCES login_user (id),
    secret TEXT NOT NULL,
    last_step INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

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
    expires_ms INTEGER NOT NULL DEFAULT 0,
    second_factor_ms INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX session_digest ON session (digest);
CREATE INDEX session_expires ON session (expires_ms);
CREATE INDEX session_of_user ON session (user_id, seen_ms);

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
CREATE INDEX slack_message_account ON slack_message (account_id);
CREATE INDEX slack_message_due ON slack_message (due_ms);

CREATE TABLE slack_webhook (
    account_id TEXT PRIMARY KEY REFERENCES account (id),
    encrypted_url TEXT NOT NULL,
    host TEXT NOT NULL,
    error TEXT,
    failed_ms INTEGER
) STRICT;

CREATE TABLE slug (
    slug TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    target_id TEXT,
    CHECK (kind IN ('campaign', 'program'))
) STRICT;
CREATE INDEX slug_target ON slug (target_id) WHERE target_id IS NOT NULL;

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
    link_version INTEGER NOT NULL DEFAULT 0,
    CHECK (referral_status IN ('verified', 'pending', 'rejected')),
    CHECK (status IN ('active', 'unsubscribed', 'confirmed')),
    CHECK (referrals_verified >= 0 AND referrals_pending >= 0 AND referrals_rejected >= 0)
) STRICT;
CREATE INDEX subscriber_advocates ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND is_advocate = 1;
CREATE INDEX subscriber_arrivals ON subscriber (campaign_id, referrer_code, received_ms) WHERE referrer_code IS NOT NULL;
CREATE INDEX subscriber_awaiting ON subscriber (received_ms)
WHERE referral_status = 'pending' AND erased_ms IS NULL AND partner_campaign_id IS NOT NULL AND referral_reason = 'awaiting_confirmation';
CREATE INDEX subscriber_claimed ON subscriber (campaign_id, claimed_code) WHERE claimed_code IS NOT NULL;
CREATE INDEX subscriber_due ON subscriber (referral_due_ms)
WHERE referral_status = 'pending' AND erased_ms IS NULL AND COALESCE(referral_reason, '') <> 'awaiting_confirmation';
CREATE UNIQUE INDEX subscriber_email ON subscriber (campaign_id, email_key) WHERE email_key IS NOT NULL;
CREATE INDEX subscriber_embed ON subscriber (campaign_id, received_ms DESC) WHERE origin = 'embed' AND erased_ms IS NULL;
CREATE INDEX subscriber_left ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND status = 'unsubscribed';
CREATE INDEX subscriber_list ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL;
CREATE INDEX subscriber_paid_person ON subscriber (account_id, person_key) WHERE partner_campaign_id IS NOT NULL;
CREATE INDEX subscriber_person ON subscriber (campaign_id, person_key) WHERE erased_ms IS NULL;
CREATE UNIQUE INDEX subscriber_ref_code ON subscriber (ref_code);
CREATE INDEX subscriber_referrals ON subscriber (referrer_id, created_ms, id) WHERE erased_ms IS NULL AND referrer_id IS NOT NULL;
CREATE INDEX subscriber_referred ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND referrer_code IS NOT NULL;
CREATE INDEX subscriber_review ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referrer_code IS NOT NULL AND referral_status <> 'verified';
CREATE INDEX subscriber_suspected ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referral_status = 'pending' AND referral_reason IN ('same_network', 'many_from_one_network', 'burst');
CREATE INDEX subscriber_suspicious ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referral_status = 'pending'
  AND referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated', 'needs_review');
CREATE INDEX subscriber_unconfirmed ON subscriber (campaign_id, created_ms, id)
WHERE erased_ms IS NULL AND must_confirm = 1;
CREATE TRIGGER adoption_value_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    DELETE FROM adoption_value
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
END;
CREATE TRIGGER integration_subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    UPDATE integration_subscriber SET written = NULL, reason = NULL
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
END;
CREATE TRIGGER subscriber_brought AFTER UPDATE OF referrals_verified ON subscriber
WHEN OLD.referrals_verified <> NEW.referrals_verified AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO advocate (subscriber_id, account_id, campaign_id, verified)
    VALUES (NEW.id, NEW.account_id, NEW.campaign_id, NEW.referrals_verified)
    ON CONFLICT (subscriber_id) DO UPDATE SET verified = excluded.verified;
END;
CREATE TRIGGER subscriber_change_adjusted AFTER UPDATE OF adjustments ON subscriber
WHEN OLD.adjustments <> NEW.adjustments
    AND EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;
CREATE TRIGGER subscriber_change_changes AFTER UPDATE OF email, name, status, referrals_verified, referral_status, erased_ms
ON subscriber
WHEN (
    OLD.email IS NOT NEW.email OR OLD.name IS NOT NEW.name OR OLD.status <> NEW.status
    OR OLD.referrals_verified <> NEW.referrals_verified OR OLD.referral_status <> NEW.referral_status
    OR OLD.erased_ms IS NOT NEW.erased_ms
) AND EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;
CREATE TRIGGER subscriber_change_joins AFTER INSERT ON subscriber
WHEN NEW.erased_ms IS NULL AND EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;
CREATE TRIGGER subscriber_code_is_free BEFORE INSERT ON subscriber
WHEN EXISTS (SELECT 1 FROM subscriber_code WHERE campaign_id = NEW.campaign_id AND folded = NEW.ref_code)
BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: subscriber.ref_code'); END;
CREATE TRIGGER subscriber_confirms AFTER UPDATE OF status ON subscriber
WHEN NEW.status = 'confirmed' AND NEW.must_confirm = 1 BEGIN
    UPDATE subscriber SET must_confirm = 0 WHERE id = NEW.id;
END;
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
CREATE TRIGGER subscriber_moves AFTER UPDATE OF email_key ON subscriber
WHEN OLD.email_key IS NOT NEW.email_key AND NEW.email_key IS NOT NULL BEGIN
    UPDATE subscriber SET link_version = link_version + 1 WHERE id = NEW.id;
END;
CREATE TRIGGER subscriber_status_changes AFTER UPDATE OF status ON subscriber
WHEN OLD.status <> NEW.status AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id)
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO NOTHING;
END;
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

CREATE TABLE subscriber_change (
    seq INTEGER PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL
) STRICT;
CREATE INDEX subscriber_change_campaign ON subscriber_change (campaign_id, seq);

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
CREATE UNIQUE INDEX subscriber_code_chosen ON subscriber_code (campaign_id, folded) WHERE source = 'chosen';
CREATE INDEX subscriber_code_folded ON subscriber_code (campaign_id, folded);
CREATE INDEX subscriber_code_of ON subscriber_code (subscriber_id, created_ms);
CREATE UNIQUE INDEX subscriber_code_once ON subscriber_code (campaign_id, code);

CREATE TABLE subscriber_note (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    text TEXT NOT NULL,
    written_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX subscriber_note_subscriber ON subscriber_note (subscriber_id, written_ms, id);

CREATE TABLE subscriber_tag (
    subscriber_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    tagged_ms INTEGER NOT NULL,
    PRIMARY KEY (subscriber_id, tag)
) STRICT;
CREATE INDEX subscriber_tag_name ON subscriber_tag (campaign_id, tag, subscriber_id);

CREATE TABLE term_change (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    program_id TEXT NOT NULL,
    texts TEXT NOT NULL,
    fields TEXT,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    starts_ms INTEGER NOT NULL,
    is_telling INTEGER NOT NULL DEFAULT 0,
    is_told INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX term_change_program ON term_change (program_id);

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
    inviter_id TEXT,
    CHECK (kind IN ('password_reset', 'invitation'))
) STRICT;
CREATE INDEX ticket_account ON ticket (account_id, created_ms) WHERE account_id IS NOT NULL;
CREATE INDEX ticket_age ON ticket (expires_ms);
CREATE UNIQUE INDEX ticket_digest ON ticket (digest);

CREATE TABLE trait_group (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    part_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    people INTEGER NOT NULL,
    domains INTEGER NOT NULL,
    networks INTEGER NOT NULL,
    approved_people INTEGER,
    found_ms INTEGER NOT NULL,
    reminded INTEGER
) STRICT;
CREATE UNIQUE INDEX trait_group_once ON trait_group (program_id, part_id, kind, key);

CREATE TABLE trait_group_partner (
    group_id TEXT NOT NULL REFERENCES trait_group (id),
    partner_campaign_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (group_id, partner_campaign_id)
) STRICT;
CREATE INDEX trait_group_partner_campaign ON trait_group_partner (partner_campaign_id);

CREATE TABLE transfer (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
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
CREATE INDEX transfer_debit ON transfer (month, debit);
CREATE INDEX transfer_earned ON transfer (month, kind, credit, amount_cents);
CREATE UNIQUE INDEX transfer_reference ON transfer (reference);
CREATE INDEX transfer_reversed ON transfer (month, debit, amount_cents) WHERE kind = 'reversal';
CREATE TRIGGER transfer_is_kept BEFORE DELETE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_is_not_replaced BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM transfer WHERE id = NEW.id OR reference = NEW.reference)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER transfer_month_is_open BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM period WHERE month = NEW.month AND closed_ms IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;
CREATE TRIGGER transfer_stays BEFORE UPDATE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TABLE used_form (
    token_hash TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    mailbox_hash TEXT NOT NULL,
    used_ms INTEGER NOT NULL,
    code TEXT
) STRICT;
CREATE INDEX used_form_age ON used_form (used_ms);

CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
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
    claimed_ms INTEGER,
    decline_reason TEXT,
    CHECK (status IN ('awaiting_approval', 'unlocked', 'out_of_stock', 'redeemed'))
) STRICT;
CREATE INDEX won_reward_address_kept ON won_reward (sent_ms) WHERE sent_ms IS NOT NULL AND shipping IS NOT NULL;
CREATE INDEX won_reward_announce ON won_reward (announce_ms) WHERE announce_ms IS NOT NULL;
CREATE INDEX won_reward_claimed ON won_reward (campaign_id, status, claimed_ms, id) WHERE claimed_ms IS NOT NULL AND (status = 'unlocked' OR redeemed_by = 'reader');
CREATE UNIQUE INDEX won_reward_once ON won_reward (reward_id, subscriber_id, multiple);
CREATE INDEX won_reward_person ON won_reward (subscriber_id, earned_ms, id);
CREATE INDEX won_reward_sent ON won_reward (campaign_id, sent_ms, id) WHERE sent_ms IS NOT NULL;
CREATE INDEX won_reward_sent_by_claim ON won_reward (campaign_id, redeemed_ms, id) WHERE sent_ms IS NOT NULL;
CREATE INDEX won_reward_status ON won_reward (campaign_id, status, earned_ms, id);
CREATE INDEX won_reward_to_send ON won_reward (campaign_id, redeemed_ms, id) WHERE shipping IS NOT NULL AND sent_ms IS NULL;
CREATE INDEX won_reward_to_send_of_reward ON won_reward (reward_id, redeemed_ms, id) WHERE shipping IS NOT NULL AND sent_ms IS NULL;
CREATE INDEX won_reward_unclaimed ON won_reward (reward_id, earned_ms, id) WHERE status = 'unlocked';
CREATE INDEX won_reward_waiting ON won_reward (reward_id, id) WHERE status = 'out_of_stock';
CREATE TRIGGER subscriber_change_earns AFTER INSERT ON won_reward
WHEN EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    VALUES (NEW.account_id, NEW.campaign_id, NEW.subscriber_id);
END;
CREATE TRIGGER subscriber_change_gets AFTER UPDATE OF status, coupon_code ON won_reward
WHEN EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    VALUES (NEW.account_id, NEW.campaign_id, NEW.subscriber_id);
END;
