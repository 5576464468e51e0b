"""Connecting a platform, as far as it happens there: the key is tried, the fields and the webhook
are created. No transaction is open meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import msgspec

from honeyguide.events.outbound import Outbound
from honeyguide.integrations.about import Hooks
from honeyguide.integrations.http import PlatformHttp
from honeyguide.integrations.integrations import NewIntegration, hook_url
from honeyguide.integrations.platform import MOST_AUDIENCES, Audience, Platform, PlatformAccess
from honeyguide.integrations.problems import PlatformError, Unexpected
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site


class CannotConnect(Invalid):
    """The platform refused, in its own or our words."""

    def __init__(self, error: PlatformError) -> None:
        super().__init__("{reason}", reason=error.reason)


class FoundAudiences(NamedTuple):
    audiences: list[Audience]
    has_more: bool
    """Whether there are more than are shown."""


def _access(
    platform: Platform, outbound: Outbound, credentials: Mapping[str, str], **chosen: object
) -> PlatformAccess:
    about = platform.about
    http = PlatformHttp(outbound, about.name, interval_s=about.limits.interval_s)
    return PlatformAccess(about=about, http=http, credentials=credentials, **chosen)  # type: ignore[arg-type]


async def audiences(
    platform: Platform, outbound: Outbound, credentials: Mapping[str, str]
) -> FoundAudiences:
    """Tries the key, and returns the lists to choose from."""
    access = _access(platform, outbound, credentials)
    try:
        await platform.check(access)
        found = await platform.audiences(access)
    except PlatformError as error:
        raise CannotConnect(error) from None
    if not found:
        raise Invalid(
            "There is no {audience} in this account. Create one in {platform} first.",
            audience=platform.about.audience,
            platform=platform.about.name,
        )
    return FoundAudiences(found[:MOST_AUDIENCES], len(found) > MOST_AUDIENCES)


async def set_up(
    platform: Platform, outbound: Outbound, site: Site, new: NewIntegration
) -> tuple[NewIntegration, str]:
    """Creates the fields and the webhook there; what the webhook needs is kept with the key. Also
    returns why there is no webhook, if the platform refused it and we look for changes anyway."""
    access = _access(
        platform,
        outbound,
        new.credentials,
        audience_id=new.audience.id,
        field_names=new.field_names,
        code_field=new.code_field,
    )
    try:
        has_fields = await platform.has_fields(access)
        await platform.ensure_fields(access)
        more, problem = await _add_hook(platform, access, hook_url(site, new.hook_key))
    except PlatformError as error:
        raise CannotConnect(error) from None
    credentials = {**new.credentials, **more}
    return msgspec.structs.replace(new, credentials=credentials, has_fields=has_fields), problem


async def _add_hook(
    platform: Platform, access: PlatformAccess, url: str
) -> tuple[dict[str, str], str]:
    """What the webhook needs, and why there is none."""
    if platform.about.hooks != Hooks.AUTOMATIC:
        return {}, ""
    try:
        return await platform.add_hook(access, url), ""
    except Unexpected as error:
        if not platform.about.poll_every_s:
            raise
        return {}, error.reason


async def create_fields(platform: Platform, access: PlatformAccess, ours: Collection[str]) -> bool:
    """Tells whether another tool may have filled one of the fields. It has not filled `ours`."""
    others = {field: name for field, name in access.field_names.items() if name not in ours}
    try:
        has_fields = await platform.has_fields(msgspec.structs.replace(access, field_names=others))
        await platform.ensure_fields(access)
    except PlatformError as error:
        raise CannotConnect(error) from None
    return has_fields


async def take_down(platform: Platform, access: PlatformAccess) -> bool:
    """Deletes the webhook there, if that is possible."""
    try:
        await platform.remove_hook(access)
    except PlatformError:
        return False
    return True
