-- works-with: 0020
-- locks: reward and won_reward, for reads and writes, for a moment
-- A shipment is an earned reward that was redeemed with a postal address (`shipping`). It is to send until `sent_ms` is set. The address is
-- removed 90 days after that. What was claimed with an address before this migration is to send as well.
--   variants      of a physical reward: the sizes or colors to choose from, a JSON list
--   variant       the one that the subscriber chose
--   sent_by       the login of the operator, or `api`
ALTER TABLE reward ADD COLUMN variants TEXT;
ALTER TABLE won_reward ADD COLUMN variant TEXT;
ALTER TABLE won_reward ADD COLUMN sent_ms INTEGER;
ALTER TABLE won_reward ADD COLUMN sent_by TEXT;
ALTER TABLE won_reward ADD COLUMN tracking_note TEXT;
