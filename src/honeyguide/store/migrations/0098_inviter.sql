-- works-with: 0093
-- locks: ticket, for reads and writes, for a moment
--   inviter_id   the member who sent the invitation, which ends with their right to send it; null for other links
ALTER TABLE ticket ADD COLUMN inviter_id TEXT;
UPDATE ticket SET inviter_id = (
    SELECT MIN(l.actor_id) FROM change_log AS l
    WHERE l.subject_id = ticket.id AND l.account_id = ticket.account_id AND l.actor_kind = 'member'
      AND l.action = 'invitation.sent'
) WHERE kind = 'invitation' AND account_id IS NOT NULL;
