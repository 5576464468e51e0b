"""Integrations: connect the email platform, watch the first sync, and see how it is doing."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec
from starlette.responses import Response

from honeyguide.events import signature
from honeyguide.integrations import (
    adoption,
    connecting,
    disconnecting,
    field_names,
    integrations,
    reading,
    removing,
)
from honeyguide.integrations.about import About, Hooks, first_sync_time
from honeyguide.integrations.connecting import FoundAudiences
from honeyguide.integrations.encryption import EncryptionKeys, NoSecretKey, Undecryptable
from honeyguide.integrations.integrations import Integration, NewIntegration
from honeyguide.integrations.platform import MOST_AUDIENCES, Audience
from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.kernel.errors import Fault, Invalid, Missing
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.settings import integration_adoption
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.services import PageServices
from honeyguide.store.reading import Reading, reads
from honeyguide.subscribers import page_index

MOST_SHOWN = 50
CODE_FIELD_LIMIT = 60
FIELD_NAMES = {str(field): Field(label) for field, label in field_names.LABELS.items()}
SYNC_LABELS = {
    "joined": "Joined",
    "confirmed": "Confirmed",
    "left": "Unsubscribed",
    "changed_address": "Changed address",
    "bounced": "Bounced",
    "complained": "Complained",
    "deleted": "Deleted",
}


def _keys(services: PageServices) -> EncryptionKeys:
    return EncryptionKeys(services.settings.secret_keys)


async def show(at: Reading, request: PageRequest) -> PageView:
    integration = await integrations.find(at)
    if integration is None:
        total = await integrations.count_to_write(at)
        return request.view(
            "integrations.html",
            has_key=bool(request.services.settings.secret_keys),
            total=total,
            platforms=[
                (each.about, first_sync_time(each.about.limits, total))
                for each in PLATFORMS.values()
            ],
        )
    integration = _known_state(request.services, integration)
    about = integrations.platform_of(integration.platform).about
    backlog = await integrations.backlog(at.tx, integration)
    total, left = await _progress(at, request, integration, backlog.due)
    page, unconfirmed, unconfirmed_total = await forms.nearest_page(
        request.query, MOST_SHOWN, lambda page: removing.page_of(at.tx, integration, page)
    )
    return request.view(
        "integration.html",
        integration=integration,
        about=about,
        total=total,
        backlog=backlog,
        left=first_sync_time(about.limits, left),
        is_first=_is_first(integration),
        unconfirmed=unconfirmed,
        unconfirmed_total=unconfirmed_total,
        has_more=unconfirmed_total >= integrations.MOST_COUNTED,
        page=page.page,
        pages=page.total_pages(unconfirmed_total),
        link=lambda number: f"/integrations?page={number}#h-unconfirmed",
        failed=await integrations.failed_writes(at.tx, integration, most=MOST_SHOWN),
        found=await integration_adoption.found(at.tx, integration),
        refused=await adoption.refused(at.tx, integration, most=MOST_SHOWN),
        most=MOST_SHOWN,
        names=[
            (name.lower() if about.is_lower_case else name, field_names.LABELS[field])
            for field, name in integration.field_names.items()
        ],
        hook_url=integrations.hook_url(request.services.site, integration.hook_key),
        is_manual=about.hooks == Hooks.MANUAL,
        kinds=SYNC_LABELS,
        today_ms=system_clock(),
        fields_shown_ms=7 * DAY_MS,
    )


def _known_state(services: PageServices, integration: Integration) -> Integration:
    """A key that cannot be decrypted does not work, also before the next write finds out."""
    if not _keys(services).is_lost(integration.credentials):
        return integration
    return msgspec.structs.replace(
        integration, status=integrations.FAILED, problem=Undecryptable().message
    )


async def _progress(
    at: Reading, request: PageRequest, integration: Integration, due: int
) -> tuple[int, int]:
    """How many there are, and how many are still to be written."""
    if not _is_first(integration):
        return await page_index.total(at.tx, integration.campaign_id, "all"), due
    total = await integrations.count_to_write(at)
    total = max(total, integration.synced)  # some were written and unsubscribed since
    return total, max(total - integration.synced, due)


def _is_first(integration: Integration) -> bool:
    return integration.first_sync_ms is None


# -- connecting


async def connect_form(at: Reading, request: PageRequest) -> PageView | Response:
    """The first step asks for the key. Also for a new key of the platform that is connected."""
    about = integrations.platform_of(request.at("platform")).about
    existing = await integrations.find(at)
    if existing is not None and existing.platform != about.key:
        return request.go("/integrations", "Disconnect the other platform first.")
    made = {each.name: signature.new_secret() for each in about.inputs if each.is_made}
    shown = {e.name: request.text(e.name) for e in about.inputs if not e.is_secret or e.is_made}
    return request.view(
        "integration_connect.html",
        about=about,
        values={**made, **{name: text for name, text in shown.items() if text}},
        is_new_key=existing is not None,
        has_key=bool(request.services.settings.secret_keys),
    )


async def connect(services: PageServices, request: PageRequest) -> PageView | Response:
    """Checks the key, then asks which list, then connects."""
    platform = integrations.platform_of(request.at("platform"))
    existing = await services.store.read(
        reads(integrations.find, request.services.site, request.tenant, request.now_ms)
    )
    credentials = _credentials(services, request, platform.about)
    found = await connecting.audiences(platform, services.outbound, credentials)
    if existing is not None:
        found = _with_list_in_use(found, existing)
    chosen = next((each for each in found.audiences if each.id == request.text("audience")), None)
    if chosen is None:
        return _audience_form(services, request, platform.about, credentials, found, existing)
    if existing is not None:
        return await _replace_key(services, request, existing, credentials, chosen)
    new = NewIntegration(
        platform=platform.about.key,
        credentials=credentials,
        audience=chosen,
        field_names=field_names.preset(platform.about, request.text("preset")),
        code_field=request.text("code_field")[:CODE_FIELD_LIMIT],
        adds_existing=bool(request.text("adds_existing")),
        hook_key=secrets.token_urlsafe(24),
    )
    new, problem = await connecting.set_up(platform, services.outbound, services.site, new)
    await request.apply(integrations.connect, _keys(services), new)
    begun = "We are reading its list first." if new.has_fields else "The first sync has begun."
    message = f"{platform.about.name} is connected. {begun} {problem}"
    return request.go("/integrations", message.strip())


def _credentials(services: PageServices, request: PageRequest, about: About) -> Mapping[str, str]:
    """What was entered now, or in the first step: that comes back encrypted, never in clear."""
    keys = _keys(services)
    if not keys.ids:
        raise NoSecretKey
    sealed = request.text("sealed")
    if sealed:
        try:
            text = keys.decrypt(sealed, row_id=_row_id(request))
        except Undecryptable:
            raise Invalid("The form has expired. Enter the key again.") from None
        return msgspec.json.decode(text, type=dict[str, str])
    given = {each.name: request.text(each.name) for each in about.inputs}
    missing = {
        each.name: f"Enter this: {each.label}."
        for each in about.inputs
        if not given[each.name] and not each.is_optional
    }
    if missing:
        raise FormErrors(missing)
    return given


def _with_list_in_use(found: FoundAudiences, existing: Integration) -> FoundAudiences:
    """It may be one of those that are not shown."""
    if not found.has_more or existing.audience_id in {each.id for each in found.audiences}:
        return found
    in_use = Audience(id=existing.audience_id, name=existing.audience_name)
    return FoundAudiences([in_use, *found.audiences], has_more=True)


def _row_id(request: PageRequest) -> str:
    return f"connect {request.tenant.account_id} {request.at('platform')}"


def _audience_form(
    services: PageServices,
    request: PageRequest,
    about: About,
    credentials: Mapping[str, str],
    found: FoundAudiences,
    existing: Integration | None,
) -> PageView:
    text = msgspec.json.encode(credentials).decode()
    return request.view(
        "integration_audience.html",
        about=about,
        sealed=_keys(services).encrypt(text, row_id=_row_id(request)),
        audiences=found.audiences,
        most=MOST_AUDIENCES if found.has_more else None,
        chosen=existing.audience_id if existing else found.audiences[0].id,
        is_new_key=existing is not None,
        usual=field_names.preset(about, "usual"),
        sparkloop=field_names.preset(about, "sparkloop"),
    )


async def _replace_key(
    services: PageServices,
    request: PageRequest,
    integration: Integration,
    credentials: Mapping[str, str],
    audience: Audience,
) -> Response:
    """A new key, and maybe another list. The webhook is made anew: the secret of the old one may be
    lost, and the key may be of another account. The old one goes last, if we can still read which
    one it is."""
    platform = integrations.platform_of(integration.platform)
    try:
        old = integrations.access_to(
            integration, _keys(services), services.outbound, now_ms=system_clock()
        )
    except Fault:
        old = None
    is_manual = platform.about.hooks == Hooks.MANUAL
    new = NewIntegration(
        platform=integration.platform,
        credentials=credentials,
        audience=audience,
        field_names=integration.field_names,
        code_field=integration.code_field,
        adds_existing=integration.adds_existing,
        hook_key=integration.hook_key if is_manual else secrets.token_urlsafe(24),
    )
    new, problem = await connecting.set_up(platform, services.outbound, services.site, new)
    if audience.id == integration.audience_id:
        message = "The new key works."
        await request.apply(
            integrations.replace_credentials,
            _keys(services),
            new.credentials,
            audience,
            hook_key=new.hook_key,
        )
    else:
        message = f"We are writing everybody to {audience.name} now."
        if new.has_fields:
            message = f"We are reading {audience.name} first."
        await request.apply(disconnecting.change_list, _keys(services), new)
    if old is not None:
        with_new_key = {**old.credentials, **credentials}
        await connecting.take_down(platform, msgspec.structs.replace(old, credentials=with_new_key))
    return request.go("/integrations", f"{message} {problem}".strip())


# -- what is connected


async def apply_button(services: PageServices, request: PageRequest) -> Response:
    """Pause, resume, retry, unsubscribe who is missing there, remove who has not confirmed, adopt
    or replace another tool's values, and disconnect."""
    action = request.text("do")
    if action == "pause":
        await request.apply(integrations.set_status, integrations.PAUSED)
        return request.go("/integrations", "Paused. Changes are kept and sent when you resume.")
    if action == "resume":
        await request.apply(integrations.set_status, integrations.ACTIVE)
        return request.go("/integrations", "Resumed.")
    if action == "retry":
        count = await request.apply(integrations.retry_failed, request.text("subscriber") or None)
        return request.go("/integrations", f"We are trying {count:,} again.")
    if action == "unsubscribe_missing":
        await request.apply(reading.believe_missing)
        message = "We are looking each of them up. Those who are gone are unsubscribed here."
        return request.go("/integrations", message)
    if action == "remove_unconfirmed":
        return await _remove_unconfirmed(request)
    if action in (integrations.ADOPT, integrations.REPLACE):
        return await integration_adoption.answer(request, action)
    if action == "disconnect":
        return await _disconnect(services, request)
    raise Missing("There is no such action.")


async def _remove_unconfirmed(request: PageRequest) -> Response:
    count = 0
    while done := await request.apply(removing.remove_batch):
        count += done
    message = f"We are removing {count:,} of them there." if count else "There is nobody to remove."
    return request.go("/integrations", message)


async def _disconnect(services: PageServices, request: PageRequest) -> Response:
    integration = await services.store.read(
        reads(integrations.get, request.services.site, request.tenant, request.now_ms)
    )
    platform = integrations.platform_of(integration.platform)
    try:
        access = integrations.access_to(
            integration, _keys(services), services.outbound, now_ms=system_clock()
        )
        is_gone = await connecting.take_down(platform, access)
    except Fault:
        is_gone = False
    await request.apply(disconnecting.disconnect)
    name = platform.about.name
    message = f"{name} is disconnected, and its key is deleted here. Your fields stay there."
    if not is_gone and platform.about.hooks == Hooks.AUTOMATIC:
        message += f" Delete our webhook in {name}: we could not."
    return request.go("/integrations", message)


async def fields_form(at: Reading, request: PageRequest) -> PageView:
    integration = await integrations.get(at)
    about = integrations.platform_of(integration.platform).about
    sent = request.errors
    return request.view(
        "integration_fields.html",
        integration=integration,
        about=about,
        code_field=request.text("code_field") if sent else integration.code_field,
        fields=[
            (
                str(field),
                label,
                request.text(field) if sent else integration.field_names.get(field, ""),
            )
            for field, label in field_names.LABELS.items()
        ],
    )


async def save_fields(services: PageServices, request: PageRequest) -> Response:
    integration = await services.store.read(
        reads(integrations.get, request.services.site, request.tenant, request.now_ms)
    )
    platform = integrations.platform_of(integration.platform)
    chosen = {str(field): request.text(field) for field in field_names.LABELS}
    names = field_names.checked(platform.about, chosen)
    access = integrations.access_to(
        integration, _keys(services), services.outbound, now_ms=system_clock()
    )
    has_fields = await connecting.create_fields(
        platform, msgspec.structs.replace(access, field_names=names), _ours(integration)
    )
    code_field = request.text("code_field")[:CODE_FIELD_LIMIT]
    await request.apply(integrations.set_field_names, names, code_field, has_fields=has_fields)
    if has_fields:
        then = "We are reading what another tool may have written to these fields."
    else:
        then = "Everybody is written again with the new names."
    return request.go("/integrations", f"Saved. {then}")


def _ours(integration: Integration) -> set[str]:
    """The names of fields that have only what we wrote."""
    is_settled = integration.adoption == integrations.SETTLED
    return set(integration.field_names.values()) if is_settled else set()
