-- works-with: 0060
-- locks: program and program_figures, for reads and writes, for a moment
-- What a program asks of referrals. Without a screening level, as all have that were made before this, the campaign's level holds.
ALTER TABLE program ADD COLUMN rule TEXT NOT NULL DEFAULT 'none';
ALTER TABLE program ADD COLUMN screening TEXT;
-- The owner chose: it holds for every origin, otherwise only for those that we host.
ALTER TABLE program ADD COLUMN is_verification_chosen INTEGER NOT NULL DEFAULT 0;
-- When the owner of an older program kept what it has, rather than what new ones start with.
ALTER TABLE program ADD COLUMN verification_offer_ms INTEGER;

-- Of the newest referrals of 30 days, how many the screening level kept from counting. Counted with the other figures, not public.
ALTER TABLE program_figures ADD COLUMN arrived_30d INTEGER NOT NULL DEFAULT 0;
ALTER TABLE program_figures ADD COLUMN held_30d INTEGER NOT NULL DEFAULT 0;
