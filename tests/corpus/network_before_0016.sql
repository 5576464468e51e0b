-- One listed program of the version before migration 0016, and its rows in the tables that went.
INSERT INTO account (id, email, email_key, created_ms) VALUES ('a', 'a@wax.example', 'a@wax.example', 1);
INSERT INTO logo (id, account_id, content_type, data, created_ms) VALUES ('l', 'a', 'image/png', X'89', 1);
INSERT INTO publication (id, account_id, name, description, categories, logo_id, enabled_partner_program,
    audience_gender, income_levels, age_ranges, created_ms)
VALUES ('b', 'a', 'ÜBER Bienen', 'TÄGLICH um acht', '["news"]', 'l', 1, 'mixed', '["$150k+"]', '["60+"]', 1);
INSERT INTO program (id, account_id, publication_id, redirect_url, show_in_directory, max_payout_cents,
    total_budget_cents, cpa_cents, created_ms)
VALUES ('p', 'a', 'b', 'https://wax.example/', 1, 1, 1, 1, 1);
INSERT INTO network_place (program_id, sort, account_id, position, traits, cpa_cents)
VALUES ('p', 'created_at', 'a', 1, 0, 1), ('p', 'confirmation_rate', 'a', 6666, 0, 1);
INSERT INTO network_word (program_id, word, shared, account_id, traits, cpa_cents, max_payout_cents, created_ms)
VALUES ('p', 'bienen', 0, 'a', 0, 1, 1, 1);
