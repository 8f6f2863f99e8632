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
from chiron_workers.web.download import DownloadLimits, NotFetched, display_url, download
from chiron_workers.web.hosts import Hosts, Robots
from chiron_workers.web.robots import ROBOTS_BYTES_MAX, Permission, robots_permission

CRAWL_DELAY_S_MAX = 30.0  # A longer Crawl-delay is shortened to this.
TURN_WAIT_MAX = timedelta(seconds=60)
ROBOTS_TIMEOUT_S = 15.0
SERVER_ERROR_TTL = timedelta(minutes=5)
UNREACHABLE_TTL = timedelta(minutes=1)
PARSE_LIMITS = Limits(timeout_s=5, memory_bytes=200_000_000)


@dataclass(frozen=True, slots=True)
class Politeness:
    """Obeys the robots.txt of hosts and keeps a pause between requests to each of them."""

    hosts: Hosts
    settings: Settings

    async def admit(self, url: str) -> None:
        """Wait until an address may be fetched.

        Raises:
            HostBusy: The host's turn is too far away.
            ToolError: The site's robots.txt forbids it.
        """
        pause_s = self.settings.fetch_pause_s
        if self.settings.fetch_robots:
            permission = await self._permission(url)
            if not permission.allows:
                raise ToolError(
                    f"{display_url(url)} is not fetched: the site's robots.txt forbids it to programs. Use another source."
                )
            pause_s = max(pause_s, min(permission.pause_s, CRAWL_DELAY_S_MAX))
        await self._wait_for_turn(url, pause_s)

    async def apply_retry_after(self, url: str, failure: NotFetched) -> None:
        """Make no request to a host for the time of its Retry-After."""
        if failure.retry_after_s:
            await self.hosts.back_off(host_of(url), timedelta(seconds=failure.retry_after_s))

    async def _wait_for_turn(self, url: str, pause_s: float) -> None:
        pause = timedelta(seconds=pause_s)
        wait_s = await self.hosts.take_turn(host_of(url), pause=pause, patience=TURN_WAIT_MAX)
        await asyncio.sleep(wait_s)

    async def _permission(self, url: str) -> Permission:
        robots = await self._robots(url)
        if robots.refusal:
            raise ToolError(f"{display_url(url)} is not fetched: {robots.refusal}")
        if robots.body is None:
            return Permission(allows=True)
        try:
            return await run_sandboxed(partial(robots_permission, robots.body, url), limits=PARSE_LIMITS)
        except UnreadableError as error:
            raise ToolError(
                f"{display_url(url)} is not fetched: the site's robots.txt cannot be followed ({error})."
            ) from None

    async def _robots(self, url: str) -> Robots:
        origin = origin_of(url)
        if (robots := await self.hosts.robots(origin)) is not None:
            return robots
        await self._wait_for_turn(url, self.settings.fetch_pause_s)
        # The worker that had the turn before may have read it meanwhile.
        return await self.hosts.robots(origin) or await self._download_robots(origin)

    async def _download_robots(self, origin: str) -> Robots:
        limits = DownloadLimits(
            ROBOTS_BYTES_MAX, ROBOTS_TIMEOUT_S, allow_private=self.settings.fetch_private, truncate=True
        )
        try:
            response = await download(f"{origin}/robots.txt", limits=limits)
        except NotFetched as error:
            return await self._robots_after_failure(origin, error)
        return await self.hosts.save_robots(origin, response.body)

    async def _robots_after_failure(self, origin: str, error: NotFetched) -> Robots:
        # RFC 9309, 2.3.1: after a client error or too many redirects there are no rules; after a server error or
        # without a response, everything is forbidden.
        status = error.status
        if status is None:
            return await self.hosts.robots_unavailable(origin, str(error), good_for=UNREACHABLE_TTL)
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            await self.apply_retry_after(origin, error)
            refusal = f"its robots.txt answered {status}, so nobody knows what it allows. Try again later."
            return await self.hosts.robots_unavailable(origin, refusal, good_for=SERVER_ERROR_TTL)
        return await self.hosts.save_robots(origin, None)


def download_limits(settings: Settings) -> DownloadLimits:
    """The limits of a page's download, from the settings."""
    return DownloadLimits(
        settings.fetch_bytes_max,
        settings.fetch_timeout_s,
        allow_private=settings.fetch_private,
        follow_refresh=True,
    )


def host_of(url: str) -> str:
    """The host of an address, in lower case."""
    return (urlsplit(url).hostname or "").rstrip(".")


def origin_of(url: str) -> str:
    """The scheme, host and port of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
