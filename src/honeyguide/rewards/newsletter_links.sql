-- name: find
-- How the block for the newsletter looks.
SELECT tool, heading, style FROM newsletter_block
WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: save
-- Store how the block for the newsletter looks.
{insert newsletter_block: campaign_id, account_id, tool, heading, style, tested_ms = :now_ms}
ON CONFLICT (campaign_id)
DO UPDATE SET tool = excluded.tool, heading = excluded.heading, style = excluded.style,
    tested_ms = excluded.tested_ms
WHERE newsletter_block.account_id = excluded.account_id;
