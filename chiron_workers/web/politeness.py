import asyncio
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from urllib.parse import urlsplit

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed
from chiron_workers.errors import ToolError
from chiron_workers.settings import Settings
from chiron_workers.web.download import DownloadLimits, NotFetched, download, shown_url
from chiron_workers.web.hosts import Hosts, Robots
from chiron_workers.web.robots import BYTES_MAX, Permission, robots_permission

PAUSE_S_MAX = 30.0  # of what a robots.txt may ask for
PATIENCE = timedelta(seconds=60)
ROBOTS_TIMEOUT_S = 15.0
TROUBLED_GOOD_FOR = timedelta(minutes=5)
UNREACHED_GOOD_FOR = timedelta(minutes=1)
PARSE_LIMITS = Limits(timeout_s=5, memory_bytes=200_000_000)


@dataclass(frozen=True, slots=True)
class Politeness:
    """How a host is asked: only for what its robots.txt allows, and not more often than it likes."""

    hosts: Hosts
    settings: Settings

    async def admit(self, url: str) -> None:
        """Return when an address may be fetched.

        Raises:
            HostBusy: The host's turn is too far away.
            ToolError: The site's robots.txt forbids it.
        """
        pause_s = self.settings.fetch_pause_s
        if self.settings.fetch_robots:
            allowed = await self._permission(url)
            if not allowed.allows:
                raise ToolError(
                    f"{shown_url(url)} is not fetched: the site's robots.txt forbids it to programs. Use another source."
                )
            pause_s = max(pause_s, min(allowed.pause_s, PAUSE_S_MAX))
        await self._turn(url, pause_s)

    async def apply_retry_after(self, url: str, failure: NotFetched) -> None:
        """Leave a host alone for as long as it asked to be."""
        if failure.retry_after_s:
            await self.hosts.back_off(host_of(url), timedelta(seconds=failure.retry_after_s))

    async def _turn(self, url: str, pause_s: float) -> None:
        pause = timedelta(seconds=pause_s)
        wait_s = await self.hosts.take_turn(host_of(url), pause=pause, patience=PATIENCE)
        await asyncio.sleep(wait_s)

    async def _permission(self, url: str) -> Permission:
        robots = await self._robots(url)
        if robots.refusal:
            raise ToolError(f"{shown_url(url)} is not fetched: {robots.refusal}")
        if robots.body is None:
            return Permission(allows=True)
        try:
            return await run_sandboxed(partial(robots_permission, robots.body, url), limits=PARSE_LIMITS)
        except UnreadableError as error:
            raise ToolError(
                f"{shown_url(url)} is not fetched: the site's robots.txt cannot be followed ({error})."
            ) from None

    async def _robots(self, url: str) -> Robots:
        origin = origin_of(url)
        if (known := await self.hosts.robots(origin)) is not None:
            return known
        await self._turn(url, self.settings.fetch_pause_s)
        # Whoever had a turn before has read it meanwhile.
        return await self.hosts.robots(origin) or await self._read_robots(origin)

    async def _read_robots(self, origin: str) -> Robots:
        limits = DownloadLimits(
            BYTES_MAX, ROBOTS_TIMEOUT_S, allow_private=self.settings.fetch_private, truncate=True
        )
        try:
            found = await download(f"{origin}/robots.txt", limits=limits)
        except NotFetched as error:
            return await self._without_robots(origin, error)
        return await self.hosts.save_robots(origin, found.body)

    async def _without_robots(self, origin: str, error: NotFetched) -> Robots:
        # RFC 9309, 2.3.1: a client error and too many redirects mean that there are no rules; after a server error, or
        # none at all, everything is forbidden.
        status = error.status
        if status is None:
            return await self.hosts.robots_unavailable(origin, str(error), good_for=UNREACHED_GOOD_FOR)
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            await self.apply_retry_after(origin, error)
            refusal = f"its robots.txt answered {status}, so nobody knows what it allows. Try again later."
            return await self.hosts.robots_unavailable(origin, refusal, good_for=TROUBLED_GOOD_FOR)
        return await self.hosts.save_robots(origin, None)


def download_limits(settings: Settings) -> DownloadLimits:
    """What fetching a page may cost."""
    return DownloadLimits(
        settings.fetch_bytes_max, settings.fetch_timeout_s, allow_private=settings.fetch_private
    )


def host_of(url: str) -> str:
    """The host of an address, in small letters."""
    return (urlsplit(url).hostname or "").rstrip(".")


def origin_of(url: str) -> str:
    """The scheme, host and port of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
