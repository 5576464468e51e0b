-- works-with: 0060
-- locks: webhook, for reads and writes, for a moment
-- What receivers written for SparkLoop expect in the header of that name. Null: the header is not sent.
ALTER TABLE webhook ADD COLUMN sparkloop_token TEXT;
