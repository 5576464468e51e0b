"""Shipments made by SQL: every advocate claimed a mug, and every other one was sent."""

from __future__ import annotations

import asyncio

import apsw
import asyncpg

from bench import people
from bench.people import Campaign
from honeyguide.store import sqlite_path

_MADE = """
INSERT INTO reward (id, account_id, campaign_id, name, referrals, kind, recurring, approval,
    is_pool, created_ms)
    VALUES ('{mug}', '{account}', '{campaign}', 'The mug', 1, 'physical', 0, 'automatic', 0, 1);
INSERT INTO won_reward (id, account_id, campaign_id, reward_id, subscriber_id, multiple, status,
    earned_ms, unlocked_ms, redeemed_ms, redeemed_by, shipping, sent_ms, sent_by)
    SELECT replace(id, '-7000-8000-', '-7000-a000-'), account_id, campaign_id, '{mug}', id, 1,
    'redeemed', created_ms, created_ms, created_ms, 'reader', '{address}', {sent_ms}, 'api'
    FROM subscriber WHERE campaign_id = '{campaign}' AND id LIKE '{prefix}-0000-7000-8000-%';
"""
_ADDRESS = (
    '{"name":"Ana Lopes","line1":"1 Hive Lane","city":"Porto","postcode":"4000","country":"PT"}'
)


def add(url: str, campaign: Campaign) -> None:
    sql = _MADE.format(
        mug=campaign.later_id(0, 1),
        account=campaign.account_id,
        campaign=campaign.id,
        prefix=campaign.prefix,
        address=_ADDRESS,
        sent_ms="CASE WHEN substr(id, 36) IN ('1', '3', '5', '7', '9') THEN created_ms + 1000 END",
    )
    execute(url, sql)


def execute(url: str, sql: str) -> None:
    asyncio.run(_execute(url, sql))


async def _execute(url: str, sql: str) -> None:
    path = sqlite_path(url)
    if path is not None:
        connection = apsw.Connection(str(path))
        with connection:
            connection.execute(sql)
        connection.close()
        return
    server = await asyncpg.connect(url)
    await server.execute(sql)
    await server.close()
    await people.settle(url)
