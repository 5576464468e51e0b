"""Everything stored that lets somebody in, or lets us in elsewhere, and what a restore and a copy
do with it. A backup is older than what was revoked since, so access does not come from it.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class AtRestore(Enum):
    DROPPED = "nobody has it any more, and asks for a new one"
    KEPT = "as in the database that is replaced, or as in the backup if nobody can know"
    BACKUP = "as in the backup"


class StoredCredential(NamedTuple):
    table: str
    # What is secret in it, or says whom it still lets in.
    columns: tuple[str, ...]
    # As `restore` and `copy` name it, after a number.
    name: str
    at_restore: AtRestore
    # The column that says whose it is: an account, a user, or nothing for the installation's own.
    belongs_to: str = ""
    # Only these columns are dropped or kept: the rest of the row is data like any other.
    is_part_of_row: bool = False


# In the order in which rows refer to each other.
CREDENTIALS = (
    StoredCredential("session", ("digest",), "sessions", AtRestore.DROPPED),
    StoredCredential("ticket", ("digest",), "invitations and password links", AtRestore.DROPPED),
    StoredCredential("email_change", ("old_digest", "new_digest"), "unconfirmed changes of a login's address", AtRestore.DROPPED),
    StoredCredential("remote_fetch", ("secret",), "keys of running fetches", AtRestore.DROPPED, is_part_of_row=True),
    StoredCredential("login_user", ("email", "email_key", "password_hash"), "logins", AtRestore.KEPT, "id"),
    StoredCredential("member", ("role",), "memberships", AtRestore.KEPT, "account_id"),
    StoredCredential("second_factor", ("secret",), "second factors", AtRestore.KEPT, "user_id"),
    StoredCredential("recovery_code", ("digest",), "recovery codes", AtRestore.KEPT, "user_id"),
    StoredCredential("api_key", ("digest", "prefix", "revoked_ms", "expires_ms", "replaced_by"), "API keys", AtRestore.KEPT, "account_id"),
    StoredCredential("webhook", ("secret", "old_secrets", "sparkloop_token"), "webhooks", AtRestore.KEPT, "account_id"),
    StoredCredential(
        "integration", ("credentials", "key_hint", "hook_key"), "keys of email platforms", AtRestore.KEPT, "account_id", is_part_of_row=True
    ),
    StoredCredential("slack_webhook", ("encrypted_url",), "Slack addresses", AtRestore.KEPT, "account_id"),
    StoredCredential("installation_key", ("private_key",), "signing keys", AtRestore.KEPT),
    StoredCredential(
        "account",
        ("email", "needs_second_factor", "link_version"),
        "accounts’ addresses and demands for a second factor",
        AtRestore.KEPT,
        "id",
        is_part_of_row=True,
    ),
    # The generated secret key. What is encrypted needs it; a code for a new installation is made
    # anew at each start.
    StoredCredential("instance", ("value",), "secrets of the installation", AtRestore.BACKUP),
)
DROPPED = tuple(each for each in CREDENTIALS if each.at_restore is AtRestore.DROPPED)
KEPT = tuple(each for each in CREDENTIALS if each.at_restore is AtRestore.KEPT)
