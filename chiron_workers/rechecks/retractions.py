"""Whether publications were retracted, as Crossref and OpenAlex have it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import quote, urlencode

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.web.download import DownloadLimits, NotFetched, download
from chiron_workers.web.hosts import Hosts
from chiron_workers.web.politeness import Politeness

SQL = load(__file__)
ANSWER_BYTES_MAX = 5_000_000
NOWHERE = "none"  # as the address of a service: nobody is asked
Service = Literal["crossref", "openalex"]
# The types of updates that take a publication back as a whole, as Crossref's `updated-by` names them.
TAKEN_BACK = frozenset({"retraction", "withdrawal", "removal"})


@dataclass(frozen=True, slots=True)
class Retraction:
    """That a publication was retracted, who says so, and the DOI of the notice where it is known."""

    doi: str
    said_by: Service
    notice: str = ""


class RetractionLookup:
    """Asks Crossref and OpenAlex about DOIs, a pause apart, and takes the address of each from the settings."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._settings = settings
        # These are made for programs: there is a pause between two requests, and no robots.txt.
        self._politeness = Politeness(Hosts(pool), settings.model_copy(update={"fetch_robots": False}))
        self._limits = DownloadLimits(
            ANSWER_BYTES_MAX, settings.fetch_timeout_s, allow_private=settings.fetch_private
        )

    @property
    def is_on(self) -> bool:
        """Whether anybody is asked."""
        return {self._settings.crossref_url, self._settings.openalex_url} != {NOWHERE}

    async def find(self, doi: str) -> Retraction | None:
        """The retraction of a publication; None where both services know of none, or do not know the DOI.

        Raises:
            ToolError: One does not answer as it should, and the other knows of no retraction.
        """
        failure: ToolError | None = None
        for service, find in (("crossref", self._find_at_crossref), ("openalex", self._find_at_openalex)):
            try:
                if retraction := await find(doi):
                    return retraction
            except ToolError as error:
                failure = ToolError(f"{service} cannot be asked about {doi}: {error}")
        if failure:
            raise failure
        return None

    async def _find_at_crossref(self, doi: str) -> Retraction | None:
        record = await self._ask(self._settings.crossref_url, f"/works/{quote(doi, safe='/')}")
        message = record.get("message")
        updates = message.get("updated-by") if isinstance(message, dict) else None
        for update in updates if isinstance(updates, list) else []:
            if isinstance(update, dict) and str(update.get("type", "")).lower() in TAKEN_BACK:
                return Retraction(doi, "crossref", str(update.get("DOI", ""))[:500])
        return None

    async def _find_at_openalex(self, doi: str) -> Retraction | None:
        record = await self._ask(
            self._settings.openalex_url, f"/works/doi:{quote(doi, safe='/')}", select="id,doi,is_retracted"
        )
        return Retraction(doi, "openalex") if record.get("is_retracted") is True else None

    async def _ask(self, service_url: str, path: str, **query: str) -> Mapping[str, Any]:
        """A record of a service; empty where it has none, or is turned off."""
        if service_url == NOWHERE:
            return {}
        if self._settings.mailto:
            query["mailto"] = self._settings.mailto
        url = f"{service_url.rstrip('/')}{path}{'?' if query else ''}{urlencode(query)}"
        try:
            answer = await download(url, limits=self._limits, admit=self._politeness.admit)
        except NotFetched as error:
            await self._politeness.apply_retry_after(url, error)
            if error.status == HTTPStatus.NOT_FOUND:
                return {}
            raise
        try:
            record = json.loads(answer.body)
        except (ValueError, RecursionError):
            raise ToolError("its answer is no JSON.") from None
        return record if isinstance(record, dict) else {}


async def store_retraction(pool: Pool, url: str, retraction: Retraction | None) -> None:
    """Store that the publication at an address was retracted, or that it was not."""
    async with Session(pool) as session:
        if retraction is None:
            await session.write(SQL["remove"], {"url": url})
            return
        args = {"doi": retraction.doi, "notice": retraction.notice, "said_by": retraction.said_by}
        await session.write(SQL["save"], {"url": url} | args)
