"""UUIDs in examples of the API, by what they are of."""

from __future__ import annotations

from honeyguide.kernel import public

# The UUID of each kind of thing in the examples. The reference replaces them by those of the
# account that is signed in, so no two kinds share one, except where it is the same thing.
_EARNED = "019a8c3e-6a10-7e02-8b4d-2f9c1d7a5e34"
IDS: dict[str, str] = {
    "campaign": public.CAMPAIGN_UUID,
    "subscriber": public.SUBSCRIBER_UUID,
    "reward": "019a8c3e-60c4-7a1b-9d27-8e5f3a6b1c02",
    "earned_reward": _EARNED,
    "shipment": _EARNED,
    "adjustment": "019a8c3e-61d8-7c55-a0f3-4b7e9d2c6a18",
    "link_host": "019a8c3e-62ea-7f30-8c91-5d0a7b3e4f26",
    "webhook": "019a8c3e-63fc-7b84-9e62-6c1f8a5d3b70",
    "webhook_v2": "019a8c3e-6510-7d19-a7b3-7e2a9c6f4d81",
    "delivery": "019a8c3e-6622-7a6e-8f04-8b3c1d7e5a92",
    "publication": "019a8c3e-6734-7c03-9015-9a4d2e8f6ba3",
    "partner_program": "019a8c3e-6846-7e58-a126-0b5e3f9a7cb4",
    "network_program": "019a8c3e-6958-7b2d-8237-1c6f4a0b8dc5",
    "partner_campaign": "019a8c3e-6b7c-7d92-9348-2d7a5b1c9ed6",
    "program_partner": "019a8c3e-6c8e-7f47-a459-3e8b6c2d0fe7",
    "partner_referral": "019a8c3e-6da0-7a1c-856a-4f9c7d3e1af8",
    "payout": "019a8c3e-6eb2-7c61-967b-5a0d8e4f2ba9",
}
