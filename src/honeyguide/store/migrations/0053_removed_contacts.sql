-- works-with: 0020
-- locks: integration_subscriber, for reads and writes, for a moment
-- When the operator asked to remove somebody from the platform who was written there before they confirmed. It is over when they
-- are active there again.
ALTER TABLE integration_subscriber ADD COLUMN removed_ms INTEGER;
