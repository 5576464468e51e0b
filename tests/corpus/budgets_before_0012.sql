-- Rows of a database that the version before migration 0012 made, on SQLite: one program for each state that a budget could be in,
-- named after it. They are text that both engines read, but for the logos: PostgreSQL writes bytes another way.

INSERT INTO account (id, email, email_key, name, is_admin, created_ms) VALUES
('01a1e22a-892d-7331-8c57-58c0b42e0996', 'owner1@wax.example', 'owner1@wax.example', 'Wax', 1, 1792152000000),
('01a1e22a-894c-730e-8389-f0c9c658a29b', 'partner2@bob.example', 'partner2@bob.example', 'Bob', 0, 1792152000000),
('01a1e22a-8998-71eb-baf1-38d476e5c081', 'owner5@wax.example', 'owner5@wax.example', 'Wax', 0, 1794744000000),
('01a1e22a-89a0-72b0-ac21-b149e5f1bc0a', 'partner6@bob.example', 'partner6@bob.example', 'Bob', 0, 1794744000000),
('01a1e22a-89a5-710f-83e7-bc3e4e5b9fde', 'partner7@bob.example', 'partner7@bob.example', 'Bob', 0, 1794744000000),
('01a1e22a-89b0-7144-9124-402d70546858', 'owner9@wax.example', 'owner9@wax.example', 'Wax', 0, 1794744000000),
('01a1e22a-89bc-7127-89ef-72fb812d46e0', 'partner10@bob.example', 'partner10@bob.example', 'Bob', 0, 1794744000000),
('01a1e22a-89d0-71de-b796-ded13e5eef8c', 'owner12@wax.example', 'owner12@wax.example', 'Wax', 0, 1794744000000),
('01a1e22a-89d9-7262-9883-2f00d9ed7962', 'partner13@bob.example', 'partner13@bob.example', 'Bob', 0, 1794744000000),
('01a1e22a-8a04-7199-a64d-32be9f15be04', 'owner16@wax.example', 'owner16@wax.example', 'Wax', 0, 1794744000000),
('01a1e22a-8a08-7327-89c6-4521c01be642', 'partner17@bob.example', 'partner17@bob.example', 'Bob', 0, 1794744000000),
('01a1e22a-8a3c-70e4-b931-93bbad46f122', 'owner19@wax.example', 'owner19@wax.example', 'Wax', 0, 1794744000000),
('01a1e22a-8a4c-717d-9f5c-40a203dca539', 'partner20@bob.example', 'partner20@bob.example', 'Bob', 0, 1794744000000),
('01a1e22a-8a58-706a-9a85-18016e61fc8f', 'partner21@bob.example', 'partner21@bob.example', 'Bob', 0, 1794744000000),
('01a1e22a-8a64-7335-8d6b-aa1b28c84a3f', 'partner22@bob.example', 'partner22@bob.example', 'Bob', 0, 1794744000000),
('01a1e22a-8a80-71c0-b038-7d1aec23255d', 'owner24@wax.example', 'owner24@wax.example', 'Wax', 0, 1794744000000),
('01a1e22a-8a83-72b4-ad1e-4665c3116d4f', 'partner25@bob.example', 'partner25@bob.example', 'Bob', 0, 1794744000000);

INSERT INTO campaign (id, account_id, name, slug, screening, hold_days, needs_confirmation, words, created_ms) VALUES
('01a1e22a-892d-7332-8154-a24171ceea0d', '01a1e22a-892d-7331-8c57-58c0b42e0996', 'Wax', 'c-jz6n8n7k', 'flexible', 0, 0, '{}', 1792152000000),
('01a1e22a-894c-730f-b738-0cc17a778fae', '01a1e22a-894c-730e-8389-f0c9c658a29b', 'Bob', 'c-kc22z664', 'flexible', 0, 0, '{}', 1792152000000),
('01a1e22a-8998-71ec-b61a-1ac3182539e1', '01a1e22a-8998-71eb-baf1-38d476e5c081', 'Wax', 'c-rpkszbz4', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-89a0-72b1-91ea-a059ae7614a2', '01a1e22a-89a0-72b0-ac21-b149e5f1bc0a', 'Bob', 'c-4jdmc5a2', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-89a5-7110-a543-74aef943950e', '01a1e22a-89a5-710f-83e7-bc3e4e5b9fde', 'Bob', 'c-g9fmxfpw', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-89b0-7145-9dac-caabfcd9b7a0', '01a1e22a-89b0-7144-9124-402d70546858', 'Wax', 'c-csy39ys8', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-89bc-7128-9f9d-822e51ba709b', '01a1e22a-89bc-7127-89ef-72fb812d46e0', 'Bob', 'c-rgx75xhc', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-89d0-71df-88fb-cb3c6ce3e776', '01a1e22a-89d0-71de-b796-ded13e5eef8c', 'Wax', 'c-3nbhw4c6', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-89d9-7263-a269-562045162428', '01a1e22a-89d9-7262-9883-2f00d9ed7962', 'Bob', 'c-p2y543ex', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-8a04-719a-bbeb-4ecf87e8cc25', '01a1e22a-8a04-7199-a64d-32be9f15be04', 'Wax', 'c-g8ewpd9h', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-8a08-7328-9768-546669f79bce', '01a1e22a-8a08-7327-89c6-4521c01be642', 'Bob', 'c-sbnkenkk', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-8a3d-720c-8333-c67b74a3cd14', '01a1e22a-8a3c-70e4-b931-93bbad46f122', 'Wax', 'c-69xtgq6t', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-8a4c-717e-a376-416e8a7bee11', '01a1e22a-8a4c-717d-9f5c-40a203dca539', 'Bob', 'c-kwef3pcn', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-8a58-706b-bcc1-38d4f90618ce', '01a1e22a-8a58-706a-9a85-18016e61fc8f', 'Bob', 'c-e6f8n2jb', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-8a64-7336-acdd-e9fd88714513', '01a1e22a-8a64-7335-8d6b-aa1b28c84a3f', 'Bob', 'c-rmwdr6r6', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-8a80-71c1-87d5-5e887c9bce17', '01a1e22a-8a80-71c0-b038-7d1aec23255d', 'Wax', 'c-x2zxecj3', 'flexible', 0, 0, '{}', 1794744000000),
('01a1e22a-8a83-72b5-9abf-ee9279ac39f5', '01a1e22a-8a83-72b4-ad1e-4665c3116d4f', 'Bob', 'c-sw6eqthe', 'flexible', 0, 0, '{}', 1794744000000);

INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, ref_code, status, referrer_code, partner_campaign_id, referral_status, referrals_verified, referrals_pending, referrals_rejected, is_advocate, is_star, origin, created_ms, received_ms) VALUES
('01a1e22a-8958-723d-8f46-999207399f7d', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-892d-7332-8154-a24171ceea0d', 'reader3@example.org', 'reader3@example.org', '5cbd155dcda68e42145c858ba8699b0ef2339f7a1637735516d328e7ed163422', 'z4fpfxw6', 'active', 'pzs2jn2kj', '01a1e22a-894d-7253-94f2-d2a3f2884adf', 'verified', 0, 0, 0, 0, 0, 'api', 1792152000000, 1792152000000),
('01a1e22a-8970-72b1-ac52-808f9891021f', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-892d-7332-8154-a24171ceea0d', 'reader4@example.org', 'reader4@example.org', '275961033d9ad1fa16ee188ad18eb3d1cb2d40f5d519f0b405bd075aee8f2ff5', 'jft53sra', 'active', 'pzs2jn2kj', '01a1e22a-894d-7253-94f2-d2a3f2884adf', 'verified', 0, 0, 0, 0, 0, 'api', 1792152000000, 1792152000000),
('01a1e22a-89a8-726d-9b6a-e251a520854c', '01a1e22a-8998-71eb-baf1-38d476e5c081', '01a1e22a-8998-71ec-b61a-1ac3182539e1', 'reader8@example.org', 'reader8@example.org', '0a217f171c7b85f993257a87a338d7455a79a316d7ed529a38bdd00a15e543b0', '7w2ed9p9', 'active', 'p5wf8qg9a', '01a1e22a-89a0-72b2-8442-bd82fa0ddc06', 'verified', 0, 0, 0, 0, 0, 'api', 1794744000000, 1794744000000),
('01a1e22a-89c5-7264-992c-1e07c7abe999', '01a1e22a-89b0-7144-9124-402d70546858', '01a1e22a-89b0-7145-9dac-caabfcd9b7a0', 'reader11@example.org', 'reader11@example.org', 'f6dbf95ff4c594512d4663507e0f7359ede51a56059210836009a1a4b54ec94b', 'sxeg67bb', 'active', 'pfknc756a', '01a1e22a-89bc-7129-bc2f-d5947a6fdba7', 'verified', 0, 0, 0, 0, 0, 'api', 1794744000000, 1794744000000),
('01a1e22a-89e8-7273-9ce3-c2afffceb66b', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d0-71df-88fb-cb3c6ce3e776', 'reader14@example.org', 'reader14@example.org', '7219702e8d22e6a66a57c082446936d20c418aa941713c5c527571299b42f15c', 'ahw53xq4', 'active', 'pwrt4wpf8', '01a1e22a-89d9-7264-aa57-3357ee136d7d', 'verified', 0, 0, 0, 0, 0, 'api', 1794744000000, 1794744000000),
('01a1e22a-89f1-73d5-b562-aa876f7b50db', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d0-71df-88fb-cb3c6ce3e776', 'reader15@example.org', 'reader15@example.org', 'b71c48cc2e8ac19f99b85364502c999169d80a322b9fe3cb44bc9cd20461faef', 'x7qhsbb8', 'active', 'pwrt4wpf8', '01a1e22a-89d9-7264-aa57-3357ee136d7d', 'verified', 0, 0, 0, 0, 0, 'api', 1794744000000, 1794744000000),
('01a1e22a-8a18-73d9-b641-c6c79fea9b94', '01a1e22a-8a04-7199-a64d-32be9f15be04', '01a1e22a-8a04-719a-bbeb-4ecf87e8cc25', 'reader18@example.org', 'reader18@example.org', '925a0c670a0b1ef564109c9069ad019690bc24fd00e3c0c205a6cce4a1830d4c', '2ww9m6dy', 'active', 'pdnh9m5fx', '01a1e22a-8a09-706d-9b63-660d78802025', 'verified', 0, 0, 0, 0, 0, 'api', 1794744000000, 1794744000000),
('01a1e22a-8a70-7211-845c-7ccc49a04509', '01a1e22a-8a3c-70e4-b931-93bbad46f122', '01a1e22a-8a3d-720c-8333-c67b74a3cd14', 'reader23@example.org', 'reader23@example.org', '87c72aeb0ca92a18fd3c5db35cef8fa303631e3feef1ce7e42f44b8590794e96', 'jejehrp3', 'active', 'ppx8km83g', '01a1e22a-8a4c-717f-86bd-392c04fa3a06', 'verified', 0, 0, 0, 0, 0, 'api', 1794744000000, 1794744000000),
('01a1e22a-8a8a-71d0-b403-39bc4bd6689d', '01a1e22a-8a80-71c0-b038-7d1aec23255d', '01a1e22a-8a80-71c1-87d5-5e887c9bce17', 'reader26@example.org', 'reader26@example.org', '63f8ecbf0be1f2ccef3bffb40209a4c4bcb662ce956a26917664ba429f234c35', 'scd37a7a', 'active', 'p2nmzrfhj', '01a1e22a-8a84-7241-9058-d300cc116706', 'verified', 0, 0, 0, 0, 0, 'api', 1794744000000, 1794744000000);

INSERT INTO logo (id, account_id, content_type, data, created_ms) VALUES
('01a1e22a-892e-7305-87ea-685e4d5fffa8', '01a1e22a-892d-7331-8c57-58c0b42e0996', 'image/png', X'89504e47', 1792152000000),
('01a1e22a-8998-71ee-80f7-2fd31931ebc2', '01a1e22a-8998-71eb-baf1-38d476e5c081', 'image/png', X'89504e47', 1794744000000),
('01a1e22a-89b0-7147-bbdf-79e0c89a6989', '01a1e22a-89b0-7144-9124-402d70546858', 'image/png', X'89504e47', 1794744000000),
('01a1e22a-89d0-71e1-a183-e8dfe6bb451d', '01a1e22a-89d0-71de-b796-ded13e5eef8c', 'image/png', X'89504e47', 1794744000000),
('01a1e22a-8a04-719c-b03a-7aa8be325991', '01a1e22a-8a04-7199-a64d-32be9f15be04', 'image/png', X'89504e47', 1794744000000),
('01a1e22a-8a3d-720e-9e25-799049a9a881', '01a1e22a-8a3c-70e4-b931-93bbad46f122', 'image/png', X'89504e47', 1794744000000),
('01a1e22a-8a80-71c3-b1b5-a90cdb91958b', '01a1e22a-8a80-71c0-b038-7d1aec23255d', 'image/png', X'89504e47', 1794744000000);

INSERT INTO publication (id, account_id, name, categories, status, logo_id, enabled_partner_program, audience_gender, income_levels, age_ranges, created_ms) VALUES
('01a1e22a-892e-7304-811a-3c1320e8739d', '01a1e22a-892d-7331-8c57-58c0b42e0996', 'closed', '["lifestyle"]', 'active', '01a1e22a-892e-7305-87ea-685e4d5fffa8', 1, 'mixed', '["$150k+"]', '["25 - 39"]', 1792152000000),
('01a1e22a-8998-71ed-809e-9ee3f1f37ed0', '01a1e22a-8998-71eb-baf1-38d476e5c081', 'told', '["lifestyle"]', 'active', '01a1e22a-8998-71ee-80f7-2fd31931ebc2', 1, 'mixed', '["$150k+"]', '["25 - 39"]', 1794744000000),
('01a1e22a-89b0-7146-be03-c73ae0992625', '01a1e22a-89b0-7144-9124-402d70546858', 'raised', '["lifestyle"]', 'active', '01a1e22a-89b0-7147-bbdf-79e0c89a6989', 1, 'mixed', '["$150k+"]', '["25 - 39"]', 1794744000000),
('01a1e22a-89d0-71e0-a1ae-69a999aca4dc', '01a1e22a-89d0-71de-b796-ded13e5eef8c', 'lowered', '["lifestyle"]', 'active', '01a1e22a-89d0-71e1-a183-e8dfe6bb451d', 1, 'mixed', '["$150k+"]', '["25 - 39"]', 1794744000000),
('01a1e22a-8a04-719b-b85a-edeb49dd1bef', '01a1e22a-8a04-7199-a64d-32be9f15be04', 'open', '["lifestyle"]', 'active', '01a1e22a-8a04-719c-b03a-7aa8be325991', 1, 'mixed', '["$150k+"]', '["25 - 39"]', 1794744000000),
('01a1e22a-8a3d-720d-a560-3bcd22f5499a', '01a1e22a-8a3c-70e4-b931-93bbad46f122', 'half told', '["lifestyle"]', 'active', '01a1e22a-8a3d-720e-9e25-799049a9a881', 1, 'mixed', '["$150k+"]', '["25 - 39"]', 1794744000000),
('01a1e22a-8a80-71c2-8ef4-69d0b4668b45', '01a1e22a-8a80-71c0-b038-7d1aec23255d', 'waiting', '["lifestyle"]', 'active', '01a1e22a-8a80-71c3-b1b5-a90cdb91958b', 1, 'mixed', '["$150k+"]', '["25 - 39"]', 1794744000000);

INSERT INTO program (id, account_id, publication_id, redirect_url, show_in_directory, referral_pending_duration, referral_pending_duration_enabled, max_payout_cents, total_budget_cents, cpa_cents, created_ms) VALUES
('01a1e22a-892e-7306-bf7f-2fe17d05f325', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-892e-7304-811a-3c1320e8739d', 'https://wax.example/', 0, 14, 0, 9000, 300, 300, 1792152000000),
('01a1e22a-8998-71ef-8b84-534f921974ff', '01a1e22a-8998-71eb-baf1-38d476e5c081', '01a1e22a-8998-71ed-809e-9ee3f1f37ed0', 'https://wax.example/', 0, 14, 0, 9000, 300, 300, 1794744000000),
('01a1e22a-89b1-728e-a3a6-e2a18885f5ef', '01a1e22a-89b0-7144-9124-402d70546858', '01a1e22a-89b0-7146-be03-c73ae0992625', 'https://wax.example/', 0, 14, 0, 9000, 900, 300, 1794744000000),
('01a1e22a-89d1-7380-a021-a434a7b83920', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d0-71e0-a1ae-69a999aca4dc', 'https://wax.example/', 0, 14, 0, 9000, 300, 300, 1794744000000),
('01a1e22a-8a05-702c-8b14-28b35a4fa443', '01a1e22a-8a04-7199-a64d-32be9f15be04', '01a1e22a-8a04-719b-b85a-edeb49dd1bef', 'https://wax.example/', 0, 14, 0, 9000, 30000, 300, 1794744000000),
('01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', '01a1e22a-8a3c-70e4-b931-93bbad46f122', '01a1e22a-8a3d-720d-a560-3bcd22f5499a', 'https://wax.example/', 0, 14, 0, 9000, 300, 300, 1794744000000),
('01a1e22a-8a81-7381-a05f-1efdceaa860e', '01a1e22a-8a80-71c0-b038-7d1aec23255d', '01a1e22a-8a80-71c2-8ef4-69d0b4668b45', 'https://wax.example/', 0, 14, 0, 9000, 300, 300, 1794744000000);

INSERT INTO partner_campaign (id, account_id, owner_account_id, program_id, ref_code, created_ms) VALUES
('01a1e22a-894d-7253-94f2-d2a3f2884adf', '01a1e22a-894c-730e-8389-f0c9c658a29b', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-892e-7306-bf7f-2fe17d05f325', 'pzs2jn2kj', 1792152000000),
('01a1e22a-89a0-72b2-8442-bd82fa0ddc06', '01a1e22a-89a0-72b0-ac21-b149e5f1bc0a', '01a1e22a-8998-71eb-baf1-38d476e5c081', '01a1e22a-8998-71ef-8b84-534f921974ff', 'p5wf8qg9a', 1794744000000),
('01a1e22a-89a5-7111-9583-da70656f0120', '01a1e22a-89a5-710f-83e7-bc3e4e5b9fde', '01a1e22a-8998-71eb-baf1-38d476e5c081', '01a1e22a-8998-71ef-8b84-534f921974ff', 'p2y48seqt', 1794744000000),
('01a1e22a-89bc-7129-bc2f-d5947a6fdba7', '01a1e22a-89bc-7127-89ef-72fb812d46e0', '01a1e22a-89b0-7144-9124-402d70546858', '01a1e22a-89b1-728e-a3a6-e2a18885f5ef', 'pfknc756a', 1794744000000),
('01a1e22a-89d9-7264-aa57-3357ee136d7d', '01a1e22a-89d9-7262-9883-2f00d9ed7962', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d1-7380-a021-a434a7b83920', 'pwrt4wpf8', 1794744000000),
('01a1e22a-8a09-706d-9b63-660d78802025', '01a1e22a-8a08-7327-89c6-4521c01be642', '01a1e22a-8a04-7199-a64d-32be9f15be04', '01a1e22a-8a05-702c-8b14-28b35a4fa443', 'pdnh9m5fx', 1794744000000),
('01a1e22a-8a4c-717f-86bd-392c04fa3a06', '01a1e22a-8a4c-717d-9f5c-40a203dca539', '01a1e22a-8a3c-70e4-b931-93bbad46f122', '01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', 'ppx8km83g', 1794744000000),
('01a1e22a-8a58-706c-b53a-ac7721822fff', '01a1e22a-8a58-706a-9a85-18016e61fc8f', '01a1e22a-8a3c-70e4-b931-93bbad46f122', '01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', 'pckgkpjmn', 1794744000000),
('01a1e22a-8a64-7337-88c7-77fd9cac1387', '01a1e22a-8a64-7335-8d6b-aa1b28c84a3f', '01a1e22a-8a3c-70e4-b931-93bbad46f122', '01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', 'pq6ac7srg', 1794744000000),
('01a1e22a-8a84-7241-9058-d300cc116706', '01a1e22a-8a83-72b4-ad1e-4665c3116d4f', '01a1e22a-8a80-71c0-b038-7d1aec23255d', '01a1e22a-8a81-7381-a05f-1efdceaa860e', 'p2nmzrfhj', 1794744000000);

INSERT INTO partner_referral (id, account_id, partner_account_id, program_id, partner_campaign_id, subscriber_id, person_key, fee_cents, arrived_ms, decided_ms, charged_cents, charged_month) VALUES
('01a1e22a-8958-723e-86e6-ee20350fc8af', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-894c-730e-8389-f0c9c658a29b', '01a1e22a-892e-7306-bf7f-2fe17d05f325', '01a1e22a-894d-7253-94f2-d2a3f2884adf', '01a1e22a-8958-723d-8f46-999207399f7d', '5cbd155dcda68e42145c858ba8699b0ef2339f7a1637735516d328e7ed163422', 300, 1792152000000, 1792152000000, 300, '2026-10'),
('01a1e22a-8970-72b2-a080-6a550609ecc1', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-894c-730e-8389-f0c9c658a29b', '01a1e22a-892e-7306-bf7f-2fe17d05f325', '01a1e22a-894d-7253-94f2-d2a3f2884adf', '01a1e22a-8970-72b1-ac52-808f9891021f', '275961033d9ad1fa16ee188ad18eb3d1cb2d40f5d519f0b405bd075aee8f2ff5', 300, 1792152000000, 1792152000000, 300, '2026-10'),
('01a1e22a-89a9-7013-84f1-6e8704573271', '01a1e22a-8998-71eb-baf1-38d476e5c081', '01a1e22a-89a0-72b0-ac21-b149e5f1bc0a', '01a1e22a-8998-71ef-8b84-534f921974ff', '01a1e22a-89a0-72b2-8442-bd82fa0ddc06', '01a1e22a-89a8-726d-9b6a-e251a520854c', '0a217f171c7b85f993257a87a338d7455a79a316d7ed529a38bdd00a15e543b0', 300, 1794744000000, 1794744000000, 300, '2026-11'),
('01a1e22a-89c5-7265-911e-ae4d1ccdadea', '01a1e22a-89b0-7144-9124-402d70546858', '01a1e22a-89bc-7127-89ef-72fb812d46e0', '01a1e22a-89b1-728e-a3a6-e2a18885f5ef', '01a1e22a-89bc-7129-bc2f-d5947a6fdba7', '01a1e22a-89c5-7264-992c-1e07c7abe999', 'f6dbf95ff4c594512d4663507e0f7359ede51a56059210836009a1a4b54ec94b', 300, 1794744000000, 1794744000000, 300, '2026-11'),
('01a1e22a-89e8-7274-84b3-38c531c0acfe', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d9-7262-9883-2f00d9ed7962', '01a1e22a-89d1-7380-a021-a434a7b83920', '01a1e22a-89d9-7264-aa57-3357ee136d7d', '01a1e22a-89e8-7273-9ce3-c2afffceb66b', '7219702e8d22e6a66a57c082446936d20c418aa941713c5c527571299b42f15c', 300, 1794744000000, 1794744000000, 300, '2026-11'),
('01a1e22a-89f1-73d6-800a-1e0215442bd2', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d9-7262-9883-2f00d9ed7962', '01a1e22a-89d1-7380-a021-a434a7b83920', '01a1e22a-89d9-7264-aa57-3357ee136d7d', '01a1e22a-89f1-73d5-b562-aa876f7b50db', 'b71c48cc2e8ac19f99b85364502c999169d80a322b9fe3cb44bc9cd20461faef', 300, 1794744000000, 1794744000000, 300, '2026-11'),
('01a1e22a-8a18-73da-9989-286193fe1f3c', '01a1e22a-8a04-7199-a64d-32be9f15be04', '01a1e22a-8a08-7327-89c6-4521c01be642', '01a1e22a-8a05-702c-8b14-28b35a4fa443', '01a1e22a-8a09-706d-9b63-660d78802025', '01a1e22a-8a18-73d9-b641-c6c79fea9b94', '925a0c670a0b1ef564109c9069ad019690bc24fd00e3c0c205a6cce4a1830d4c', 300, 1794744000000, 1794744000000, 300, '2026-11'),
('01a1e22a-8a71-7287-a1d5-d24a90e856f7', '01a1e22a-8a3c-70e4-b931-93bbad46f122', '01a1e22a-8a4c-717d-9f5c-40a203dca539', '01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', '01a1e22a-8a4c-717f-86bd-392c04fa3a06', '01a1e22a-8a70-7211-845c-7ccc49a04509', '87c72aeb0ca92a18fd3c5db35cef8fa303631e3feef1ce7e42f44b8590794e96', 300, 1794744000000, 1794744000000, 300, '2026-11'),
('01a1e22a-8a8a-71d1-a714-575d3a8247ec', '01a1e22a-8a80-71c0-b038-7d1aec23255d', '01a1e22a-8a83-72b4-ad1e-4665c3116d4f', '01a1e22a-8a81-7381-a05f-1efdceaa860e', '01a1e22a-8a84-7241-9058-d300cc116706', '01a1e22a-8a8a-71d0-b403-39bc4bd6689d', '63f8ecbf0be1f2ccef3bffb40209a4c4bcb662ce956a26917664ba429f234c35', 300, 1794744000000, 1794744000000, 300, '2026-11');

INSERT INTO budget (program_id, month, account_id, spent_cents, nearly_ms, reached_ms, told_nearly_ms, told_reached_ms) VALUES
('01a1e22a-892e-7306-bf7f-2fe17d05f325', '2026-10', '01a1e22a-892d-7331-8c57-58c0b42e0996', 600, NULL, NULL, NULL, NULL),
('01a1e22a-892e-7306-bf7f-2fe17d05f325', '2026-11', '01a1e22a-892d-7331-8c57-58c0b42e0996', 0, NULL, NULL, NULL, NULL),
('01a1e22a-8998-71ef-8b84-534f921974ff', '2026-11', '01a1e22a-8998-71eb-baf1-38d476e5c081', 300, 1794744000000, 1794744000000, 1794744000000, 1794744000000),
('01a1e22a-89b1-728e-a3a6-e2a18885f5ef', '2026-11', '01a1e22a-89b0-7144-9124-402d70546858', 300, 1794744000000, NULL, 1794744000000, 1794744000000),
('01a1e22a-89d1-7380-a021-a434a7b83920', '2026-11', '01a1e22a-89d0-71de-b796-ded13e5eef8c', 600, 1794744000000, NULL, 1794744000000, NULL),
('01a1e22a-8a05-702c-8b14-28b35a4fa443', '2026-11', '01a1e22a-8a04-7199-a64d-32be9f15be04', 300, NULL, NULL, NULL, NULL),
('01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', '2026-11', '01a1e22a-8a3c-70e4-b931-93bbad46f122', 300, 1794744000000, 1794744000000, 1794744000000, NULL),
('01a1e22a-8a81-7381-a05f-1efdceaa860e', '2026-11', '01a1e22a-8a80-71c0-b038-7d1aec23255d', 300, 1794744000000, 1794744000000, NULL, NULL);

INSERT INTO partner_spend (partner_campaign_id, month, program_id, account_id, partner_account_id, spent_cents) VALUES
('01a1e22a-894d-7253-94f2-d2a3f2884adf', '2026-10', '01a1e22a-892e-7306-bf7f-2fe17d05f325', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-894c-730e-8389-f0c9c658a29b', 600),
('01a1e22a-89a0-72b2-8442-bd82fa0ddc06', '2026-11', '01a1e22a-8998-71ef-8b84-534f921974ff', '01a1e22a-8998-71eb-baf1-38d476e5c081', '01a1e22a-89a0-72b0-ac21-b149e5f1bc0a', 300),
('01a1e22a-89bc-7129-bc2f-d5947a6fdba7', '2026-11', '01a1e22a-89b1-728e-a3a6-e2a18885f5ef', '01a1e22a-89b0-7144-9124-402d70546858', '01a1e22a-89bc-7127-89ef-72fb812d46e0', 300),
('01a1e22a-89d9-7264-aa57-3357ee136d7d', '2026-11', '01a1e22a-89d1-7380-a021-a434a7b83920', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d9-7262-9883-2f00d9ed7962', 600),
('01a1e22a-8a09-706d-9b63-660d78802025', '2026-11', '01a1e22a-8a05-702c-8b14-28b35a4fa443', '01a1e22a-8a04-7199-a64d-32be9f15be04', '01a1e22a-8a08-7327-89c6-4521c01be642', 300),
('01a1e22a-8a4c-717f-86bd-392c04fa3a06', '2026-11', '01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', '01a1e22a-8a3c-70e4-b931-93bbad46f122', '01a1e22a-8a4c-717d-9f5c-40a203dca539', 300),
('01a1e22a-8a84-7241-9058-d300cc116706', '2026-11', '01a1e22a-8a81-7381-a05f-1efdceaa860e', '01a1e22a-8a80-71c0-b038-7d1aec23255d', '01a1e22a-8a83-72b4-ad1e-4665c3116d4f', 300);

INSERT INTO charge (id, account_id, partner_account_id, program_id, partner_campaign_id, partner_referral_id, person_key, month, fee_cents, budget_spent_cents, budget_cap_cents, partner_spent_cents, partner_cap_cents, created_ms) VALUES
('01a1e22a-8959-7148-9225-9190a722162e', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-894c-730e-8389-f0c9c658a29b', '01a1e22a-892e-7306-bf7f-2fe17d05f325', '01a1e22a-894d-7253-94f2-d2a3f2884adf', '01a1e22a-8958-723e-86e6-ee20350fc8af', '5cbd155dcda68e42145c858ba8699b0ef2339f7a1637735516d328e7ed163422', '2026-10', 300, 300, 900, 300, 9000, 1792152000000),
('01a1e22a-8971-723f-8fd8-a16e3f151f39', '01a1e22a-892d-7331-8c57-58c0b42e0996', '01a1e22a-894c-730e-8389-f0c9c658a29b', '01a1e22a-892e-7306-bf7f-2fe17d05f325', '01a1e22a-894d-7253-94f2-d2a3f2884adf', '01a1e22a-8970-72b2-a080-6a550609ecc1', '275961033d9ad1fa16ee188ad18eb3d1cb2d40f5d519f0b405bd075aee8f2ff5', '2026-10', 300, 600, 900, 600, 9000, 1792152000000),
('01a1e22a-89a9-7014-9890-31a8b2088bf9', '01a1e22a-8998-71eb-baf1-38d476e5c081', '01a1e22a-89a0-72b0-ac21-b149e5f1bc0a', '01a1e22a-8998-71ef-8b84-534f921974ff', '01a1e22a-89a0-72b2-8442-bd82fa0ddc06', '01a1e22a-89a9-7013-84f1-6e8704573271', '0a217f171c7b85f993257a87a338d7455a79a316d7ed529a38bdd00a15e543b0', '2026-11', 300, 300, 300, 300, 9000, 1794744000000),
('01a1e22a-89c5-7266-8fb5-c8158509248f', '01a1e22a-89b0-7144-9124-402d70546858', '01a1e22a-89bc-7127-89ef-72fb812d46e0', '01a1e22a-89b1-728e-a3a6-e2a18885f5ef', '01a1e22a-89bc-7129-bc2f-d5947a6fdba7', '01a1e22a-89c5-7265-911e-ae4d1ccdadea', 'f6dbf95ff4c594512d4663507e0f7359ede51a56059210836009a1a4b54ec94b', '2026-11', 300, 300, 300, 300, 9000, 1794744000000),
('01a1e22a-89e8-7275-b991-97508af82772', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d9-7262-9883-2f00d9ed7962', '01a1e22a-89d1-7380-a021-a434a7b83920', '01a1e22a-89d9-7264-aa57-3357ee136d7d', '01a1e22a-89e8-7274-84b3-38c531c0acfe', '7219702e8d22e6a66a57c082446936d20c418aa941713c5c527571299b42f15c', '2026-11', 300, 300, 900, 300, 9000, 1794744000000),
('01a1e22a-89f2-71a4-a935-aadfd7a0d4c6', '01a1e22a-89d0-71de-b796-ded13e5eef8c', '01a1e22a-89d9-7262-9883-2f00d9ed7962', '01a1e22a-89d1-7380-a021-a434a7b83920', '01a1e22a-89d9-7264-aa57-3357ee136d7d', '01a1e22a-89f1-73d6-800a-1e0215442bd2', 'b71c48cc2e8ac19f99b85364502c999169d80a322b9fe3cb44bc9cd20461faef', '2026-11', 300, 600, 900, 600, 9000, 1794744000000),
('01a1e22a-8a19-71bf-afe6-17404ba1ac33', '01a1e22a-8a04-7199-a64d-32be9f15be04', '01a1e22a-8a08-7327-89c6-4521c01be642', '01a1e22a-8a05-702c-8b14-28b35a4fa443', '01a1e22a-8a09-706d-9b63-660d78802025', '01a1e22a-8a18-73da-9989-286193fe1f3c', '925a0c670a0b1ef564109c9069ad019690bc24fd00e3c0c205a6cce4a1830d4c', '2026-11', 300, 300, 30000, 300, 9000, 1794744000000),
('01a1e22a-8a71-7288-adb9-ab857b6a7b40', '01a1e22a-8a3c-70e4-b931-93bbad46f122', '01a1e22a-8a4c-717d-9f5c-40a203dca539', '01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', '01a1e22a-8a4c-717f-86bd-392c04fa3a06', '01a1e22a-8a71-7287-a1d5-d24a90e856f7', '87c72aeb0ca92a18fd3c5db35cef8fa303631e3feef1ce7e42f44b8590794e96', '2026-11', 300, 300, 300, 300, 9000, 1794744000000),
('01a1e22a-8a8a-71d2-b1dd-15788dc0dea3', '01a1e22a-8a80-71c0-b038-7d1aec23255d', '01a1e22a-8a83-72b4-ad1e-4665c3116d4f', '01a1e22a-8a81-7381-a05f-1efdceaa860e', '01a1e22a-8a84-7241-9058-d300cc116706', '01a1e22a-8a8a-71d1-a714-575d3a8247ec', '63f8ecbf0be1f2ccef3bffb40209a4c4bcb662ce956a26917664ba429f234c35', '2026-11', 300, 300, 300, 300, 9000, 1794744000000);

INSERT INTO transfer (id, kind, reference, debit, credit, amount_cents, month, created_ms) VALUES
('01a1e22a-895a-73ab-aac4-3126aa623a81', 'charge', 'charge:01a1e22a-8959-7148-9225-9190a722162e', 'program:01a1e22a-892e-7306-bf7f-2fe17d05f325:receivable', 'partner:01a1e22a-894c-730e-8389-f0c9c658a29b:payable', 300, '2026-10', 1792152000000),
('01a1e22a-8971-7240-a34e-e73df99965aa', 'charge', 'charge:01a1e22a-8971-723f-8fd8-a16e3f151f39', 'program:01a1e22a-892e-7306-bf7f-2fe17d05f325:receivable', 'partner:01a1e22a-894c-730e-8389-f0c9c658a29b:payable', 300, '2026-10', 1792152000000),
('01a1e22a-8986-7144-aadd-1ec6e8dc0567', 'payout', 'payout:01a1e22a-8986-7143-90f3-5ed771dae7be', 'partner:01a1e22a-894c-730e-8389-f0c9c658a29b:payable', 'payout:clearing', 600, '2026-11', 1793880000000),
('01a1e22a-89a9-7015-8e3e-25daa4988940', 'charge', 'charge:01a1e22a-89a9-7014-9890-31a8b2088bf9', 'program:01a1e22a-8998-71ef-8b84-534f921974ff:receivable', 'partner:01a1e22a-89a0-72b0-ac21-b149e5f1bc0a:payable', 300, '2026-11', 1794744000000),
('01a1e22a-89c5-7267-acef-20eeeef7d878', 'charge', 'charge:01a1e22a-89c5-7266-8fb5-c8158509248f', 'program:01a1e22a-89b1-728e-a3a6-e2a18885f5ef:receivable', 'partner:01a1e22a-89bc-7127-89ef-72fb812d46e0:payable', 300, '2026-11', 1794744000000),
('01a1e22a-89e8-7276-8477-a45cd436ed1e', 'charge', 'charge:01a1e22a-89e8-7275-b991-97508af82772', 'program:01a1e22a-89d1-7380-a021-a434a7b83920:receivable', 'partner:01a1e22a-89d9-7262-9883-2f00d9ed7962:payable', 300, '2026-11', 1794744000000),
('01a1e22a-89f2-71a5-9c45-7934cf3c6a00', 'charge', 'charge:01a1e22a-89f2-71a4-a935-aadfd7a0d4c6', 'program:01a1e22a-89d1-7380-a021-a434a7b83920:receivable', 'partner:01a1e22a-89d9-7262-9883-2f00d9ed7962:payable', 300, '2026-11', 1794744000000),
('01a1e22a-8a19-71c0-bb40-ec5ae1683c0f', 'charge', 'charge:01a1e22a-8a19-71bf-afe6-17404ba1ac33', 'program:01a1e22a-8a05-702c-8b14-28b35a4fa443:receivable', 'partner:01a1e22a-8a08-7327-89c6-4521c01be642:payable', 300, '2026-11', 1794744000000),
('01a1e22a-8a71-7289-a6f4-81dd6024078b', 'charge', 'charge:01a1e22a-8a71-7288-adb9-ab857b6a7b40', 'program:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:receivable', 'partner:01a1e22a-8a4c-717d-9f5c-40a203dca539:payable', 300, '2026-11', 1794744000000),
('01a1e22a-8a8a-71d3-a826-0414251841e7', 'charge', 'charge:01a1e22a-8a8a-71d2-b1dd-15788dc0dea3', 'program:01a1e22a-8a81-7381-a05f-1efdceaa860e:receivable', 'partner:01a1e22a-8a83-72b4-ad1e-4665c3116d4f:payable', 300, '2026-11', 1794744000000);

INSERT INTO payout (id, account_id, month, amount_cents, marks, created_ms) VALUES
('01a1e22a-8986-7143-90f3-5ed771dae7be', '01a1e22a-894c-730e-8389-f0c9c658a29b', '2026-10', 600, 0, 1793880000000);

INSERT INTO notice (id, account_id, kind, once_key, sentence, link, created_ms) VALUES
('01a1e22a-8a20-70a1-a877-8738e2e47f59', '01a1e22a-8998-71eb-baf1-38d476e5c081', 'budget_80', 'budget_80:01a1e22a-8998-71ef-8b84-534f921974ff:2026-11', 'The Morning Wax: 80 % of the budget for November 2026 is spent', '/program/01a1e22a-8998-71ef-8b84-534f921974ff', 1794744000000),
('01a1e22a-8a21-71ca-b283-43db139f7d10', '01a1e22a-89b0-7144-9124-402d70546858', 'budget_80', 'budget_80:01a1e22a-89b1-728e-a3a6-e2a18885f5ef:2026-11', 'The Morning Wax: 80 % of the budget for November 2026 is spent', '/program/01a1e22a-89b1-728e-a3a6-e2a18885f5ef', 1794744000000),
('01a1e22a-8a21-71cc-8ffc-2388c3c23c6d', '01a1e22a-89d0-71de-b796-ded13e5eef8c', 'budget_80', 'budget_80:01a1e22a-89d1-7380-a021-a434a7b83920:2026-11', 'The Morning Wax: 80 % of the budget for November 2026 is spent', '/program/01a1e22a-89d1-7380-a021-a434a7b83920', 1794744000000),
('01a1e22a-8a21-71ce-b1d1-8f621f2aff5f', '01a1e22a-8998-71eb-baf1-38d476e5c081', 'budget_100', 'budget_100:01a1e22a-8998-71ef-8b84-534f921974ff:2026-11', 'The Morning Wax: the budget for November 2026 is reached', '/program/01a1e22a-8998-71ef-8b84-534f921974ff', 1794744000000),
('01a1e22a-8a21-71d0-aa69-264b19d0a83e', '01a1e22a-89a0-72b0-ac21-b149e5f1bc0a', 'budget_reached', 'budget_reached:01a1e22a-8998-71ef-8b84-534f921974ff:2026-11', 'The Morning Wax has reached its budget for November 2026', '/earnings/01a1e22a-89a0-72b2-8442-bd82fa0ddc06', 1794744000000),
('01a1e22a-8a21-71d2-aa33-977bf73e81a9', '01a1e22a-89a5-710f-83e7-bc3e4e5b9fde', 'budget_reached', 'budget_reached:01a1e22a-8998-71ef-8b84-534f921974ff:2026-11', 'The Morning Wax has reached its budget for November 2026', '/earnings/01a1e22a-89a5-7111-9583-da70656f0120', 1794744000000),
('01a1e22a-8a2c-7227-89f7-eed6f97531aa', '01a1e22a-89b0-7144-9124-402d70546858', 'budget_100', 'budget_100:01a1e22a-89b1-728e-a3a6-e2a18885f5ef:2026-11', 'The Morning Wax: the budget for November 2026 is reached', '/program/01a1e22a-89b1-728e-a3a6-e2a18885f5ef', 1794744000000),
('01a1e22a-8a2d-7143-90ed-21d978a38bc4', '01a1e22a-89bc-7127-89ef-72fb812d46e0', 'budget_reached', 'budget_reached:01a1e22a-89b1-728e-a3a6-e2a18885f5ef:2026-11', 'The Morning Wax has reached its budget for November 2026', '/earnings/01a1e22a-89bc-7129-bc2f-d5947a6fdba7', 1794744000000),
('01a1e22a-8a75-72bb-aefa-b4e3877b54d6', '01a1e22a-8a3c-70e4-b931-93bbad46f122', 'budget_80', 'budget_80:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:2026-11', 'The Morning Wax: 80 % of the budget for November 2026 is spent', '/program/01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', 1794744000000),
('01a1e22a-8a76-7340-834c-9722aa8e7b74', '01a1e22a-8a3c-70e4-b931-93bbad46f122', 'budget_100', 'budget_100:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:2026-11', 'The Morning Wax: the budget for November 2026 is reached', '/program/01a1e22a-8a3d-720f-98b2-bb0743f6f6b9', 1794744000000),
('01a1e22a-8a76-7342-b615-6d132db9f9ac', '01a1e22a-8a4c-717d-9f5c-40a203dca539', 'budget_reached', 'budget_reached:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:2026-11', 'The Morning Wax has reached its budget for November 2026', '/earnings/01a1e22a-8a4c-717f-86bd-392c04fa3a06', 1794744000000),
('01a1e22a-8a76-7344-9fbb-9e407a63fc24', '01a1e22a-8a58-706a-9a85-18016e61fc8f', 'budget_reached', 'budget_reached:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:2026-11', 'The Morning Wax has reached its budget for November 2026', '/earnings/01a1e22a-8a58-706c-b53a-ac7721822fff', 1794744000000);

INSERT INTO letter (id, account_id, kind, to_email, mailbox, subject, body_text, once_key, waited_for, created_ms, due_ms, attempts, lease_until_ms) VALUES
('01a1e22a-8a20-70a2-8205-0cff6f573eaf', '01a1e22a-8998-71eb-baf1-38d476e5c081', 'budget_80', 'owner5@wax.example', 'owner5@wax.example', 'The Morning Wax: 80 % of the budget for November 2026 is spent', 'As it was sent.', 'budget_80:01a1e22a-8998-71ef-8b84-534f921974ff:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a21-71cb-b02b-924a98344276', '01a1e22a-89b0-7144-9124-402d70546858', 'budget_80', 'owner9@wax.example', 'owner9@wax.example', 'The Morning Wax: 80 % of the budget for November 2026 is spent', 'As it was sent.', 'budget_80:01a1e22a-89b1-728e-a3a6-e2a18885f5ef:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a21-71cd-b7c2-30855868a92d', '01a1e22a-89d0-71de-b796-ded13e5eef8c', 'budget_80', 'owner12@wax.example', 'owner12@wax.example', 'The Morning Wax: 80 % of the budget for November 2026 is spent', 'As it was sent.', 'budget_80:01a1e22a-89d1-7380-a021-a434a7b83920:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a21-71cf-b4e9-b044b51af0d4', '01a1e22a-8998-71eb-baf1-38d476e5c081', 'budget_100', 'owner5@wax.example', 'owner5@wax.example', 'The Morning Wax: the budget for November 2026 is reached', 'As it was sent.', 'budget_100:01a1e22a-8998-71ef-8b84-534f921974ff:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a21-71d1-8555-1ffdb58072c9', '01a1e22a-89a0-72b0-ac21-b149e5f1bc0a', 'budget_reached', 'partner6@bob.example', 'partner6@bob.example', 'The Morning Wax has reached its budget for November 2026', 'As it was sent.', 'budget_reached:01a1e22a-8998-71ef-8b84-534f921974ff:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a21-71d3-a0f8-34c101575714', '01a1e22a-89a5-710f-83e7-bc3e4e5b9fde', 'budget_reached', 'partner7@bob.example', 'partner7@bob.example', 'The Morning Wax has reached its budget for November 2026', 'As it was sent.', 'budget_reached:01a1e22a-8998-71ef-8b84-534f921974ff:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a2c-7228-b86c-b33c63be1630', '01a1e22a-89b0-7144-9124-402d70546858', 'budget_100', 'owner9@wax.example', 'owner9@wax.example', 'The Morning Wax: the budget for November 2026 is reached', 'As it was sent.', 'budget_100:01a1e22a-89b1-728e-a3a6-e2a18885f5ef:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a2d-7144-8e0e-c829e2a4e39c', '01a1e22a-89bc-7127-89ef-72fb812d46e0', 'budget_reached', 'partner10@bob.example', 'partner10@bob.example', 'The Morning Wax has reached its budget for November 2026', 'As it was sent.', 'budget_reached:01a1e22a-89b1-728e-a3a6-e2a18885f5ef:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a76-733f-8fc5-134400cb909e', '01a1e22a-8a3c-70e4-b931-93bbad46f122', 'budget_80', 'owner19@wax.example', 'owner19@wax.example', 'The Morning Wax: 80 % of the budget for November 2026 is spent', 'As it was sent.', 'budget_80:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a76-7341-a88d-73f02992b816', '01a1e22a-8a3c-70e4-b931-93bbad46f122', 'budget_100', 'owner19@wax.example', 'owner19@wax.example', 'The Morning Wax: the budget for November 2026 is reached', 'As it was sent.', 'budget_100:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a76-7343-8a4b-da03f2fe294a', '01a1e22a-8a4c-717d-9f5c-40a203dca539', 'budget_reached', 'partner20@bob.example', 'partner20@bob.example', 'The Morning Wax has reached its budget for November 2026', 'As it was sent.', 'budget_reached:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:2026-11', 0, 1794744000000, 1794744000000, 0, 0),
('01a1e22a-8a76-7345-87af-29a70c553d78', '01a1e22a-8a58-706a-9a85-18016e61fc8f', 'budget_reached', 'partner21@bob.example', 'partner21@bob.example', 'The Morning Wax has reached its budget for November 2026', 'As it was sent.', 'budget_reached:01a1e22a-8a3d-720f-98b2-bb0743f6f6b9:2026-11', 0, 1794744000000, 1794744000000, 0, 0);

INSERT INTO period (month, closed_ms, paid_out_ms) VALUES
('2026-10', 1793880000000, 1793880000000),
('2026-11', NULL, NULL);
