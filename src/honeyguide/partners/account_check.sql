-- Each statement counts the rows whose account is not that of the row they are part of, or where that row
-- does not exist. Each reads its tables once, over all accounts.

-- fragment: astray
-- Rows of a table {1} that are part of one in {2}.
(SELECT COUNT(*) FROM {1} AS t LEFT JOIN {2} AS p ON p.id = t.{2}_id
 WHERE COALESCE(p.account_id, '') <> t.account_id)

-- fragment: outside_campaign
-- The same for a table that also has the campaign.
(SELECT COUNT(*) FROM {1} AS t LEFT JOIN {2} AS p ON p.id = t.{2}_id
 WHERE COALESCE(p.account_id, '') <> t.account_id OR p.campaign_id <> t.campaign_id)

-- fragment: clicks_astray
(SELECT COUNT(*) FROM {1} AS t
 LEFT JOIN campaign AS c ON c.id = t.target_id
 LEFT JOIN partner_campaign AS j ON j.id = t.target_id
 WHERE COALESCE(c.account_id, j.owner_account_id, '') <> t.account_id)

-- fragment: synced_astray
-- What an integration, also a disconnected one, has of a subscriber.
(SELECT COUNT(*) FROM {1} AS t
 LEFT JOIN integration AS i ON i.id = t.integration_id
 LEFT JOIN disconnected_integration AS d ON d.id = t.integration_id
 LEFT JOIN subscriber AS s ON s.id = t.subscriber_id
 WHERE COALESCE(i.account_id, d.account_id, '') <> t.account_id
    OR COALESCE(s.account_id, '') <> t.account_id
    OR s.campaign_id <> COALESCE(i.campaign_id, d.campaign_id))

-- name: lists_astray
-- The name of a list begins with its campaign or subscriber.
SELECT (SELECT COUNT(*) FROM listing AS t
        LEFT JOIN campaign AS c ON c.id = SUBSTR(t.list, 1, 36)
        LEFT JOIN subscriber AS s ON s.id = SUBSTR(t.list, 1, 36)
        WHERE COALESCE(c.account_id, s.account_id, '') <> t.account_id)
     + (SELECT COUNT(*) FROM listing_run AS t LEFT JOIN listing AS l ON l.list = t.list
        WHERE COALESCE(l.account_id, '') <> t.account_id)
     + {astray(campaign_day, campaign)}
     + {astray(cohort_count, campaign)}
     + {astray(cohort_change, campaign)}
     + {astray(cohort_state, campaign)}
     + (SELECT COUNT(*) FROM count_note AS t
        LEFT JOIN campaign AS c ON c.id = t.owner_id LEFT JOIN subscriber AS s ON s.id = t.owner_id
        WHERE COALESCE(c.account_id, s.account_id, '') <> t.account_id) AS n;

-- name: rewards_astray
-- Rewards, earned rewards and coupons.
SELECT {astray(reward, campaign)}
     + (SELECT COUNT(*) FROM won_reward AS t LEFT JOIN subscriber AS s ON s.id = t.subscriber_id
        LEFT JOIN reward AS r ON r.id = t.reward_id
        WHERE COALESCE(s.account_id, '') <> t.account_id OR COALESCE(r.account_id, '') <> t.account_id
           OR s.campaign_id <> t.campaign_id OR r.campaign_id <> t.campaign_id)
     + (SELECT COUNT(*)
         FROM coupon AS t
         LEFT JOIN reward AS r ON r.id = t.reward_id
         LEFT JOIN won_reward AS w ON w.id = t.won_id
        WHERE COALESCE(r.account_id, '') <> t.account_id
           OR t.won_id IS NOT NULL AND COALESCE(w.account_id, '') <> t.account_id) AS n;

-- name: consents_astray
-- An erasure may be newer than a restored backup, and its subscriber may not be there.
SELECT {astray(campaign_brand, campaign)}
     + {astray(embed, campaign)}
     + {astray(link_host, campaign)}
     + {astray(newsletter_block, campaign)}
     + (SELECT COUNT(*) FROM campaign_brand AS t JOIN logo AS l ON l.id IN (t.logo_id, t.icon_id, t.share_id)
        WHERE l.account_id <> t.account_id)
     + (SELECT COUNT(*) FROM campaign_brand AS t JOIN consent_text AS x ON x.id = t.consent_text_id
        WHERE x.campaign_id <> t.campaign_id)
     + {astray(consent_text, campaign)}
     + (SELECT COUNT(*) FROM consent AS t LEFT JOIN subscriber AS s ON s.id = t.subscriber_id
        LEFT JOIN consent_text AS x ON x.id = t.consent_text_id
        WHERE COALESCE(s.account_id, '') <> t.account_id OR COALESCE(x.account_id, '') <> t.account_id
           OR x.campaign_id <> s.campaign_id)
     + {astray(email_stop, subscriber)}
     + {outside_campaign(subscriber_tag, subscriber)}
     + {astray(subscriber_note, subscriber)}
     + {outside_campaign(evidence, subscriber)}
     + {astray(confirmation_brake, campaign)}
     + {astray(code_look, campaign)}
     + {astray(program_look, campaign)}
     + {astray(trait_group, campaign)}
     + (SELECT COUNT(*) FROM trait_group_partner AS t LEFT JOIN trait_group AS g ON g.id = t.group_id
        WHERE COALESCE(g.account_id, '') <> t.account_id)
     + {astray(person_rekeying, campaign)}
     + {outside_campaign(referral_decision, subscriber)}
     + {outside_campaign(adjustment, subscriber)}
     + {outside_campaign(subscriber_code, subscriber)}
     + {outside_campaign(form_code, subscriber)}
     + {outside_campaign(claim, subscriber)}
     + (SELECT COUNT(*) FROM claim AS t LEFT JOIN subscriber AS r ON r.id = t.id
        WHERE COALESCE(r.account_id, '') <> t.account_id OR r.campaign_id <> t.campaign_id)
     + {astray(delayed_action, campaign)}
     + {astray(used_form, campaign)}
     + (SELECT COUNT(*) FROM change_log AS t LEFT JOIN account AS a ON a.id = t.account_id WHERE a.id IS NULL)
     + (SELECT COUNT(*)
         FROM change_log AS t
         JOIN subscriber AS s ON s.id = t.subject_id
         WHERE s.account_id <> t.account_id)
     + {astray(saved_filter, campaign)}
     + {astray(screening_entry, campaign)}
     + (SELECT COUNT(*) FROM erasure AS t JOIN subscriber AS s ON s.id = t.subscriber_id
        WHERE s.account_id <> t.account_id OR s.campaign_id <> t.campaign_id) AS n;

-- name: links_astray
-- A slug that was given up has no target. A click counts for a campaign, or for a partner of a program.
SELECT (SELECT COUNT(*) FROM slug AS t LEFT JOIN account AS a ON a.id = t.account_id
        LEFT JOIN campaign AS c ON c.id = t.target_id AND t.kind = 'campaign'
        LEFT JOIN program AS p ON p.id = t.target_id AND t.kind = 'program'
        WHERE a.id IS NULL
           OR t.target_id IS NOT NULL
          AND COALESCE(c.account_id, p.account_id, '') <> t.account_id)
     + {clicks_astray(click)}
     + {clicks_astray(click_day)} AS n;

-- name: events_astray
-- The subscriber of an event may belong to another account: partners get events about those they referred.
SELECT (SELECT COUNT(*) FROM webhook AS t LEFT JOIN campaign AS c ON c.id = t.campaign_id
        WHERE t.campaign_id IS NOT NULL AND COALESCE(c.account_id, '') <> t.account_id)
     + (SELECT COUNT(*) FROM event AS t LEFT JOIN account AS a ON a.id = t.account_id
        LEFT JOIN subscriber AS s ON s.id = t.subscriber_id
        WHERE a.id IS NULL OR t.subscriber_id IS NOT NULL AND s.id IS NULL)
     + (SELECT COUNT(*)
         FROM delivery AS t
         LEFT JOIN webhook AS w ON w.id = t.webhook_id
         LEFT JOIN event AS e ON e.id = t.event_id
        WHERE COALESCE(w.account_id, '') <> t.account_id OR COALESCE(e.account_id, '') <> t.account_id)
     + {astray(attempt, delivery)} AS n;

-- name: emails_astray
-- An email to somebody without an account has an empty account.
SELECT (SELECT COUNT(*) FROM letter AS t
    LEFT JOIN account AS a ON a.id = t.account_id
    LEFT JOIN subscriber AS s ON s.id = t.about_id
        WHERE t.account_id <> ''
          AND a.id IS NULL
           OR t.about_id IS NOT NULL
          AND COALESCE(s.account_id, '') <> t.account_id)
     + (SELECT COUNT(*)
         FROM idempotency AS t
         LEFT JOIN account AS a ON a.id = t.account_id
         WHERE a.id IS NULL) AS n;

-- name: integrations_astray
-- An integration's rows go after it is disconnected. A subscriber is never deleted.
SELECT {astray(integration, campaign)}
     + {astray(disconnected_integration, campaign)}
     + {synced_astray(integration_subscriber)}
     + {synced_astray(adoption_value)}
     + (SELECT COUNT(*) FROM integration_event AS t LEFT JOIN integration AS i ON i.id = t.integration_id
        LEFT JOIN disconnected_integration AS d ON d.id = t.integration_id
        WHERE COALESCE(i.account_id, d.account_id, '') <> t.account_id)
     + {outside_campaign(subscriber_change, subscriber)} AS n;

-- name: members_astray
-- Accounts without owner, members, keys and invitations.
SELECT (SELECT COUNT(*) FROM account AS a
        WHERE a.closed_ms IS NULL
          AND NOT EXISTS (SELECT 1 FROM member AS m WHERE m.account_id = a.id AND m.role = 'owner'))
     + (SELECT COUNT(*)
         FROM session AS t
         LEFT JOIN member AS m ON m.account_id = t.account_id AND m.user_id = t.user_id
        WHERE m.user_id IS NULL)
     + (SELECT COUNT(*) FROM api_key AS t LEFT JOIN api_key AS k ON k.id = t.replaced_by
        WHERE t.replaced_by IS NOT NULL AND COALESCE(k.account_id, '') <> t.account_id) AS n;

-- name: imports_astray
-- Imports, their parts, errors and findings.
SELECT {astray(import, campaign)}
     + {astray(import_part, import)}
     + {astray(import_error, import)}
     + {astray(import_finding, import)}
     + (SELECT COUNT(*) FROM import_own_id AS t LEFT JOIN import AS i ON i.id = t.import_id
        LEFT JOIN subscriber AS s ON s.id = t.subscriber_id
        WHERE COALESCE(i.account_id, '') <> t.account_id OR COALESCE(s.account_id, '') <> t.account_id)
     + {astray(certificate, campaign)}
     + {astray(remote_fetch, import)}
     + {astray(fetched_person, import)} AS n;

-- name: partners_astray
-- In these tables `account_id` is the owner of the program, except in `partner_campaign`, where it is the
-- partner. A charge agrees with its referral, which the ledger check proves.
SELECT {astray(publication, logo)}
     + {astray(program, publication)}
     + (SELECT COUNT(*) FROM partner_campaign AS t LEFT JOIN program AS p ON p.id = t.program_id
        WHERE COALESCE(p.account_id, '') <> t.owner_account_id)
     + (SELECT COUNT(*)
         FROM partner_referral AS t
         LEFT JOIN partner_campaign AS j ON j.id = t.partner_campaign_id
        LEFT JOIN subscriber AS s ON s.id = t.subscriber_id
        WHERE COALESCE(j.owner_account_id, '') <> t.account_id OR j.account_id <> t.partner_account_id
           OR j.program_id <> t.program_id OR COALESCE(s.account_id, '') <> t.account_id)
     + (SELECT COUNT(*)
         FROM partner_spend AS t
         LEFT JOIN partner_campaign AS j ON j.id = t.partner_campaign_id
        WHERE COALESCE(j.owner_account_id, '') <> t.account_id OR j.account_id <> t.partner_account_id
           OR j.program_id <> t.program_id)
     + (SELECT COUNT(*) FROM first_look AS t LEFT JOIN partner_campaign AS j ON j.id = t.id
        WHERE COALESCE(j.owner_account_id, '') <> t.account_id OR j.program_id <> t.program_id)
     + {astray(first_look_month, program)}
     + {astray(budget, program)}
     + {astray(program_day, program)}
     + {astray(program_figures, program)}
     + {astray(term_change, program)}
     + (SELECT COUNT(*) FROM partner_block AS t LEFT JOIN account AS a ON a.id = t.account_id
        LEFT JOIN account AS o ON o.id = t.partner_account_id
        WHERE a.id IS NULL OR o.id IS NULL OR a.id = o.id) AS n;
