-- works-with: 0020
-- locks: subscriber, for reads and writes, for a moment
-- Whether somebody still has to confirm their email address. Decided when they join; see `must_confirm` in referrals/rules.py.
ALTER TABLE subscriber ADD COLUMN must_confirm INTEGER NOT NULL DEFAULT 0;
