"""Two accounts that fetch people from another service."""

from honeyguide.kernel.ids import new_id
from tests.support.job_world import World


def begin_fetches(world: World) -> None:
    """With keys that cannot be decrypted, which is a problem to record."""
    for who in world.both:
        import_id = new_id()
        world.do(
            "INSERT INTO import (id, account_id, campaign_id, file_name, header, mapping, total, "
            "created_ms) VALUES (:id, :who, :campaign, 'x', '[]', '{}', 0, 1)",
            id=import_id,
            who=who.account_id,
            campaign=who.campaign_id,
        )
        world.do(
            "INSERT INTO remote_fetch (import_id, account_id, base_url, secret, stage, created_ms) "
            "VALUES (:id, :who, 'http://127.0.0.1:1', 'x', 'people', 1)",
            id=import_id,
            who=who.account_id,
        )
