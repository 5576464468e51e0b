"""Import from the API of another service: enter its key, watch the fetch, and go on to the
import.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.integrations.connecting import CannotConnect
from honeyguide.integrations.encryption import EncryptionKeys, NoSecretKey, Undecryptable
from honeyguide.integrations.problems import PlatformError
from honeyguide.kernel.errors import Invalid
from honeyguide.moving import fetching, importing, moved_documents
from honeyguide.moving.fetching import FetchStage, RemoteFetch
from honeyguide.moving.remote_api import SPARKLOOP_URL, RemoteApi, parse_base_url, parse_key
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.store.reading import Reading, reads

SERVICE = {"base_url": Field("Address of the API"), "key": Field("API key")}
KEY = {"key": Field("API key")}
STAGES = {
    FetchStage.PEOPLE: "Fetching subscribers",
    FetchStage.PAYOUTS: "Fetching payouts",
    FetchStage.PARTNER_CAMPAIGNS: "Fetching joined programs",
    FetchStage.PUBLICATIONS: "Fetching publications",
    FetchStage.PARTNER_PROGRAMS: "Fetching partner programs",
    FetchStage.DONE: "Everything is fetched",
}


def _keys(services: PageServices) -> EncryptionKeys:
    return EncryptionKeys(services.settings.secret_keys)


async def form(at: Reading, request: PageRequest) -> PageView:
    return request.view(
        "import_api.html",
        has_key=bool(request.services.settings.secret_keys),
        base_url=request.text("base_url") or SPARKLOOP_URL,
        earlier=await fetching.of_account(at),
        stages=STAGES,
        documents=await moved_documents.count(at),
    )


async def begin(services: PageServices, request: PageRequest) -> Response:
    """Tries the key, then leaves the fetch to the job."""
    store, keys = services.store, _keys(services)
    if not keys.ids:
        raise NoSecretKey
    base_url = parse_base_url(request.text("base_url"), services.policy)
    key = parse_key(request.text("key"))
    for each in await store.read(
        reads(fetching.of_account, request.services.site, request.tenant, request.now_ms)
    ):
        if each.is_under_way:
            raise Invalid("Wait until {service} is fetched, or discard that.", service=each.name)
    try:
        campaign = await RemoteApi(services.outbound, base_url, key).campaign()
    except PlatformError as error:
        raise CannotConnect(error) from None
    import_id = await request.apply(fetching.begin, base_url, campaign.name)
    await _resume(services, request, import_id, key)
    return request.go(f"/subscribers/import/api/{import_id}")


async def _resume(
    services: PageServices, request: PageRequest, import_id: str, key: str
) -> RemoteFetch:
    fetch = await services.store.read(
        reads(fetching.get, request.services.site, request.tenant, request.now_ms), import_id
    )
    secret = _keys(services).encrypt(key, row_id=import_id)
    await request.apply(fetching.resume, fetch, secret=secret)
    return fetch


async def show(at: Reading, request: PageRequest) -> PageView:
    fetch = await fetching.get(at, request.at("id"))
    if fetch.is_under_way and _keys(request.services).is_lost(fetch.secret):
        # The job finds out at its next try.
        fetch = fetch._replace(is_stopped=True, problem=Undecryptable().message)
    return request.view(
        "import_api_fetch.html",
        fetch=fetch,
        stage=STAGES[fetch.stage],
        unknown=sorted(fetch.not_understood.items()),
        documents=await moved_documents.count(at),
        no_status=fetching.NO_STATUS,
    )


async def submit(services: PageServices, request: PageRequest) -> Response:
    """Discards it, or goes on with another key."""
    import_id = request.at("id")
    fetch = await services.store.read(
        reads(fetching.get, request.services.site, request.tenant, request.now_ms), import_id
    )
    if request.text("do") == "forget":
        await request.apply(importing.forget, import_id)
        return request.go("/subscribers/import/api", "Discarded.")
    if fetch.stage != FetchStage.DONE:
        await _resume(services, request, import_id, parse_key(request.text("key")))
    return request.go(f"/subscribers/import/api/{import_id}")
