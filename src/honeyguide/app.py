"""The composition root: settings in, a running application out. It knows all other packages."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from honeyguide.accounts import accounts, setup_codes
from honeyguide.accounts.admission import admission
from honeyguide.api.handler import Api
from honeyguide.api.openapi import document
from honeyguide.api.platform_hooks import PlatformHooks
from honeyguide.api.process_metrics import ProcessMetrics
from honeyguide.api.readiness import Readiness
from honeyguide.api.routes import ROUTES
from honeyguide.api.state_metrics import StateMetrics
from honeyguide.api.system import (
    LLMS_TXT,
    SECURITY_TXT,
    Exposition,
    System,
    introduction,
    llms_txt,
    security_txt,
)
from honeyguide.api.telemetry import PageCounter, Telemetry
from honeyguide.api.transport import Receive, Scope, Send
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.dispatcher import Dispatcher
from honeyguide.events.outbound import Outbound
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.worker import IntegrationWorker
from honeyguide.kernel import log_context
from honeyguide.kernel.background import Background, BackgroundLoop
from honeyguide.kernel.backup_urls import FolderUrl, parse_backup_url
from honeyguide.kernel.clock import HOUR_MS, Clock, shifted_clock, system_clock
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.site import Site
from honeyguide.mail.transports import transport_for
from honeyguide.operating.backups.making import BackupPlan
from honeyguide.operating.backups.places import place_for
from honeyguide.pages.readers.link_hosts import TENANT, LinkHostHandler
from honeyguide.pages.readers.links import PREFIXES, LinkHandler, is_link
from honeyguide.pages.services import PageServices
from honeyguide.pages.site import pages_app
from honeyguide.screening import mail_hosts
from honeyguide.settings import Settings
from honeyguide.store import Store, migrate, open_store
from honeyguide.subscribers.link_host_map import LinkHostMap
from honeyguide.work.fetches import Fetcher
from honeyguide.work.jobs import (
    backup_jobs,
    certificate_jobs,
    fetch_jobs,
    jobs_of,
    link_host_jobs,
    mail_host_jobs,
    notification_jobs,
)
from honeyguide.work.loop import HealthNotes, Loop
from honeyguide.work.notifications import SlackPoster

log = logging.getLogger("honeyguide")


def clock_of(settings: Settings) -> Clock:
    return shifted_clock(Path(settings.test_clock)) if settings.test_clock else system_clock


async def site_of(store: Store, settings: Settings) -> Site:
    secret = (
        settings.secret_keys[-1]
        if settings.secret_keys
        else await store.write(accounts.instance_secret)
    )
    return Site(
        settings.base_url,
        settings.signup_page_host,
        secret,
        Path(settings.logo_dir) if settings.logo_dir else None,
        bool(settings.smtp_url),
        await store.read(mail_hosts.is_on, settings.mail_hosts),
    )


def backup_plan_of(settings: Settings) -> BackupPlan | None:
    """None if there are no automatic backups."""
    if not settings.backup_url:
        return None
    return BackupPlan(
        database_url=settings.direct_url,
        place=place_for(
            settings.backup_url,
            key_id=settings.backup_access_key_id,
            secret=settings.backup_secret_access_key,
        ),
        recipient=settings.backup_age_recipient,
        every_ms=settings.backup_interval * HOUR_MS,
        keep_days=settings.backup_keep_days,
    )


@dataclass
class Services:
    """Everything that is open while the service runs."""

    settings: Settings
    store: Store
    site: Site
    clock: Clock
    policy: OutboundPolicy
    outbound: Outbound
    loop: Loop
    dispatcher: Dispatcher
    integrations: IntegrationWorker

    @property
    def work(self) -> list[BackgroundLoop]:
        """All background work of the installation. Any number of processes can do it."""
        return [*self.loop.loops(), self.dispatcher, self.integrations]


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Services]:
    """Migrate and open the store, without a server, as the command line needs it."""
    await migrate(settings.direct_url)
    clock = clock_of(settings)
    store = await open_store(
        settings.database_url,
        pool_size=settings.pool_size,
        direct_url=settings.database_direct_url,
        replica_url=settings.replica_url,
        clock=clock,
    )
    try:
        site = await site_of(store, settings)
        policy = OutboundPolicy.for_base_url(
            settings.base_url,
            [part for part in settings.webhook_allow.split(",") if part.strip()],
            webhooks_per_account=settings.max_webhooks,
        )
        transport = transport_for(settings.smtp_url, settings.mail_from)
        outbound, keys = Outbound(policy), EncryptionKeys(settings.secret_keys)
        plan = backup_plan_of(settings)
        if plan is not None:
            # In a thread that nobody waits for: the folder may be on a disk that hangs.
            threading.Thread(target=plan.place.make_private, daemon=True).start()
        fetcher = Fetcher(store, outbound, site, clock)
        jobs = (
            jobs_of(
                site,
                transport,
                change_log_keep_days=settings.change_log_keep_days,
                keep_closed_years=settings.keep_closed_years,
            )
            + notification_jobs(site, SlackPoster(site, outbound, keys))
            + link_host_jobs(site, outbound)
            + mail_host_jobs(site, outbound)
            + fetch_jobs(fetcher, keys)
            + certificate_jobs(site, settings.secret_keys)
            + backup_jobs(plan)
        )
        dispatcher = Dispatcher(store, outbound, clock, base_url=site.base_url)
        try:
            yield Services(
                settings=settings,
                store=store,
                site=site,
                clock=clock,
                policy=policy,
                outbound=outbound,
                loop=Loop(store, clock, jobs),
                dispatcher=dispatcher,
                integrations=IntegrationWorker(
                    store, outbound, clock, site, EncryptionKeys(settings.secret_keys)
                ),
            )
        finally:
            await outbound.close()
    finally:
        await store.close()


class Application:
    """The ASGI application. API paths go straight to the API, others to links, probes and pages."""

    def __init__(
        self, settings: Settings, *, work: bool = True, shows_setup_code: bool = False
    ) -> None:
        self._settings = settings
        self._work = work
        self._shows_setup_code = shows_setup_code
        self.services: Services | None = None
        self._api: Api | None = None
        self._system: System | None = None
        self._site: PageCounter | None = None
        self._link_hosts: LinkHostHandler | None = None
        self._links_only: PageCounter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and self._link_hosts is not None:
            tenant = await self._link_hosts.tenant_of(scope)
            if tenant is None:
                await self._serve(scope, receive, send)
            elif self._links_only is not None:
                log_context.start_request(os.urandom(8).hex())
                await self._links_only({**scope, TENANT: tenant}, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What is at our own host."""
        path = scope["path"]
        if self._api is not None and (path.startswith(("/v1/", "/v2/")) or path in ("/v1", "/v2")):
            await self._api(scope, receive, send)
        elif self._system is not None and path in self._system.paths:
            await self._system(scope, receive, send)
        elif self._site is not None:
            log_context.start_request(os.urandom(8).hex())
            await self._site(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with opened(self._settings) as services:
                self.services = services
                telemetry = Telemetry(
                    log=self._settings.log == "json"
                    and self._settings.log_level in ("debug", "info")
                )
                background = self._build(services, telemetry)
                if self._shows_setup_code:
                    await _show_setup_code(services)
                running = asyncio.create_task(background.run())
                await send({"type": "lifespan.startup.complete"})
                await receive()
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                telemetry.flush()
        except Exception as error:
            if self._api is not None:
                raise
            if isinstance(error, Fault):
                log.error("%s", error)
            else:
                log.exception("Honeyguide could not start")
            await send({"type": "lifespan.startup.failed"})
            return
        await send({"type": "lifespan.shutdown.complete"})

    def _texts(self, services: Services) -> dict[str, Callable[[], str | None]]:
        contact, mail_from = self._settings.security_contact, self._settings.mail_from
        base_url, clock = services.site.base_url, services.clock
        return {
            SECURITY_TXT: lambda: security_txt(contact, mail_from, base_url, now_ms=clock()),
            LLMS_TXT: lambda: llms_txt(base_url),
        }

    def _build(self, services: Services, telemetry: Telemetry) -> Background:
        """Puts API, pages and probes together, and returns what must run beside them."""
        store = services.store
        background = Background(store.watch.loops)
        self._api = api = Api(
            store=store,
            site=services.site,
            policy=services.policy,
            clock=services.clock,
            admission=admission(store, self._settings.rate_limit, services.site.base_url),
            telemetry=telemetry,
            routes=ROUTES,
        )
        describe = functools.cache(functools.partial(document, ROUTES, self._settings.base_url))
        page_services = PageServices(
            settings=self._settings,
            store=store,
            site=services.site,
            clock=services.clock,
            policy=services.policy,
            outbound=services.outbound,
        )
        pages = pages_app(describe, page_services)
        self._links = links = LinkHandler(page_services, pages)
        hosts = LinkHostMap(store, services.site, services.clock)
        self._link_hosts = LinkHostHandler(page_services, hosts, links, self._serve)
        self._links_only = links_only = PageCounter(self._link_hosts, telemetry, ("/",))
        keys = EncryptionKeys(self._settings.secret_keys)
        hooks = PlatformHooks(store, services.outbound, keys, services.clock)

        async def site_of_path(scope: Scope, receive: Receive, send: Send) -> None:
            path = scope["path"]
            app = links if is_link(path) else hooks if hooks.serves(path) else pages
            await app(scope, receive, send)

        self._site = site = PageCounter(site_of_path, telemetry, PREFIXES)
        process = ProcessMetrics(
            telemetry.registry,
            store,
            background,
            lambda: api.under_way + site.under_way + links_only.under_way,
        )
        readiness = Readiness(store, background, lambda: api.is_overloaded, lambda: process.lag_s)
        exposition = Exposition(telemetry, process, _state_metrics(services, self._settings))
        introduce = functools.partial(introduction, store, services.site.base_url)
        self._system = System(
            readiness, exposition, describe, introduce, hosts, self._texts(services)
        )
        # The process that serves a click counts it, even if another one runs the background work.
        notes = HealthNotes(store, background, services.loop)
        background.add(process, links.counter, notes, *(services.work if self._work else ()))
        return background


async def _show_setup_code(services: Services) -> None:
    """A warning, so that it is in the log at every usual level."""
    code = await services.store.write(setup_codes.renew)
    if code is not None:
        log.warning(
            "There is no account yet. Create the first one at %s/setup with the setup code %s",
            services.site.base_url,
            code,
        )


def _state_metrics(services: Services, settings: Settings) -> StateMetrics:
    backup_url = parse_backup_url(settings.backup_url) if settings.backup_url else None
    folders = {
        "backups": backup_url.path if isinstance(backup_url, FolderUrl) else None,
        "database": services.store.path and services.store.path.parent,
        "logos": services.site.logo_folder,
    }
    jobs = services.loop.jobs
    return StateMetrics(
        services.store,
        services.clock,
        {name: folder for name, folder in folders.items() if folder is not None},
        {job.name: job.every_ms for job in jobs},
        frozenset(job.name for job in jobs if job.always_runs),
    )
