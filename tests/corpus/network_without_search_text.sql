-- One listed program as an earlier version made it, whose publication has no text to search in yet.
INSERT INTO account (id, email, created_ms) VALUES ('a', 'a@wax.example', 1);
INSERT INTO logo (id, account_id, content_type, data, created_ms) VALUES ('l', 'a', 'image/png', X'89', 1);
INSERT INTO publication (id, account_id, name, description, categories, logo_id, enabled_partner_program,
    audience_gender, income_levels, age_ranges, created_ms)
VALUES ('b', 'a', 'ÜBER Bienen', 'TÄGLICH um acht', '["news"]', 'l', 1, 'mixed', '["$150k+"]', '["60+"]', 1);
INSERT INTO program (id, account_id, publication_id, redirect_url, show_in_directory, max_payout_cents,
    total_budget_cents, cpa_cents, created_ms)
VALUES ('p', 'a', 'b', 'https://wax.example/', 1, 1, 1, 1, 1);
