-- works-with: 0093
-- locks: account and program, for a moment
-- People of a program who share a mail domain, a mail host, or a browser in one IP network.
--   part_id          the first of the partner campaigns with a common owner, which are decided together
--   people           how many of the part confirmed, and share it
--   domains          at how many mail domains they are
--   networks         from how many IP networks they came
--   approved_people  how many there were when the owner said that it looks right
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
    found_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX trait_group_once ON trait_group (program_id, part_id, kind, key);

-- The partner campaigns that a group came through.
CREATE TABLE trait_group_partner (
    group_id TEXT NOT NULL REFERENCES trait_group (id),
    partner_campaign_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (group_id, partner_campaign_id)
) STRICT;
CREATE INDEX trait_group_partner_campaign ON trait_group_partner (partner_campaign_id);

-- Programs whose groups are to be looked at.
CREATE TABLE program_look (
    program_id TEXT PRIMARY KEY REFERENCES program (id),
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    since_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX program_look_since ON program_look (since_ms);

-- Which server takes the mail of a domain, as DNS says. Nothing here is about anybody.
--   wanted_ms   when a group was last looked at that has the domain
--   looked_ms   when DNS was last asked; 0 if it was not
CREATE TABLE mail_host (
    domain TEXT PRIMARY KEY,
    mx_domain TEXT,
    network TEXT,
    wanted_ms INTEGER NOT NULL,
    looked_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX mail_host_wanted ON mail_host (wanted_ms);

-- A row means that DNS is not asked where no setting says: in an installation that was there before.
CREATE TABLE mail_host_default (
    is_off INTEGER PRIMARY KEY
) STRICT;
INSERT INTO mail_host_default (is_off) SELECT 1 WHERE EXISTS (SELECT 1 FROM account);
