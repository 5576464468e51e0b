-- works-with: 0020
-- The failed deliveries of a webhook, however many others there are.
CREATE INDEX delivery_failed ON delivery (webhook_id, created_ms, id) WHERE status = 'failed';
