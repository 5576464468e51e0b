-- works-with: 0060
-- locks: campaign and won_reward, for reads and writes, while an index is built (a second for a million earned rewards)
-- A shipment to its end.
--   announce_ms          when the subscriber is told that it is on its way; until then, marking it as sent can be undone. Null after that
--   sent_batch           what was marked as sent together, and is undone together
--   delivered_ms         when the operator said that it arrived
--   address_changed_ms   when the subscriber last corrected the postal address
ALTER TABLE won_reward ADD COLUMN announce_ms INTEGER;
ALTER TABLE won_reward ADD COLUMN sent_batch TEXT;
ALTER TABLE won_reward ADD COLUMN delivered_ms INTEGER;
ALTER TABLE won_reward ADD COLUMN address_changed_ms INTEGER;
-- What was marked as sent within the last minute: empty nearly always.
CREATE INDEX won_reward_announce ON won_reward (announce_ms) WHERE announce_ms IS NOT NULL;
-- Whether the campaign sends the email that says so.
ALTER TABLE campaign ADD COLUMN sends_shipment_sent INTEGER NOT NULL DEFAULT 1;
