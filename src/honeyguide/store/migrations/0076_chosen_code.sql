-- works-with: 0060
-- locks: subscriber_code (writes wait while its index is built)
-- Of two who choose the same code at the same moment, in whatever case, one is refused. Imported codes may differ in case only.
CREATE UNIQUE INDEX subscriber_code_chosen ON subscriber_code (campaign_id, folded) WHERE source = 'chosen';
