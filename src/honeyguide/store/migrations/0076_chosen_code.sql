-- works-with: 0060
-- locks: subscriber_code (writes wait while its index is built), campaign (briefly)
-- Of two who choose the same code at the same moment, in whatever case, one is refused. Imported codes may differ in case only.
CREATE UNIQUE INDEX subscriber_code_chosen ON subscriber_code (campaign_id, folded) WHERE source = 'chosen';

-- Names of parameters in old links that hold a subscriber's code, besides those that we know: a JSON list.
ALTER TABLE campaign ADD COLUMN link_parameters TEXT NOT NULL DEFAULT '[]';
