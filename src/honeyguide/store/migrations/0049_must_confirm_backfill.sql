-- works-with: 0020
-- locks: the rows of subscribers who have not confirmed, while it runs
-- Who was asked to confirm and has not. On our own pages everybody is asked. Of those added by API, only those whose referral waits
-- for it: the others may have been added before the campaign asked for confirmations, or were never sent a link, and nothing here
-- tells them apart. Nobody on a list that the owner keeps elsewhere is asked.
UPDATE subscriber SET must_confirm = 1
WHERE status = 'active' AND erased_ms IS NULL
  AND (origin IN ('signup', 'magic', 'embed')
    OR origin = 'api' AND referral_status = 'pending' AND referral_reason = 'awaiting_confirmation')
  AND campaign_id IN (SELECT id FROM campaign WHERE needs_confirmation = 1);
