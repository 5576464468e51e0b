-- works-with: 0093
-- locks: ticket, for reads and writes, for a moment
--   inviter_id   the member who sent the invitation, which ends with their right to send it; null for other links
ALTER TABLE ticket ADD COLUMN inviter_id TEXT;
UPDATE ticket SET inviter_id = (
    SELECT MIN(l.actor_id) FROM change_log AS l
    WHERE l.subject_id = ticket.id AND l.account_id = ticket.account_id AND l.actor_kind = 'member'
      AND l.action = 'invitation.sent'
) WHERE kind = 'invitation' AND account_id IS NOT NULL;

DELETE FROM ticket
WHERE kind = 'invitation' AND used_ms IS NULL AND inviter_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM member AS m
    WHERE m.account_id = ticket.account_id AND m.user_id = ticket.inviter_id AND m.role = 'owner'
);
