-- works-with: 0020
-- concurrently: delivery_failed
-- The failed deliveries of a webhook, however many others there are.
CREATE INDEX CONCURRENTLY delivery_failed ON delivery (webhook_id, created_ms, id) WHERE status = 'failed';
