import re
from collections.abc import Iterable

from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.sources.private_texts import PrivateTexts
from chiron_workers.sources.sources import URL_BYTES_MAX, canonical

SQL = load(__file__)
SHOWN_CHARS = 300
ADDRESS = re.compile(rf"https?://[^\s<>\"'`|\\^{{}}]{{1,{URL_BYTES_MAX}}}", re.IGNORECASE)
AFTER_ADDRESS = ".,;:!?)]*_"  # what a sentence puts behind an address


class EgressPolicy:
    """Which addresses a run may fetch, and which words it may send outside, given what it has read.

    Whatever a page orders, no request can carry the words of a private file to an address made up for it: a run that
    has read one fetches only addresses that a search gave it, or a person, and sends no words that stand only there.
    Outside of a run nothing is refused.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    async def mark_tainted(self) -> None:
        """Mark the run as one that has read private files; also if the call fails, since an error may quote them.

        It opens no transaction, so call it before anything is read.
        """
        self._session.reads_private = True

    note_private = mark_tainted  # the name that tools written for 0.1 use

    async def is_tainted(self) -> bool:
        """Whether the run has read private files."""
        run_id = self._session.caller.run_id
        if run_id is None:
            return False
        return self._session.reads_private or bool(
            await self._session.row(SQL["is_tainted"], {"run_id": run_id})
        )

    async def allow(self, urls: Iterable[str]) -> None:
        """Let the run fetch these addresses, which a search gave it, whatever it reads later."""
        addresses = [address for url in urls if (address := canonical(url)).startswith("http")]
        if addresses and self._session.caller.run_id is not None:
            args = {"run_id": self._session.caller.run_id, "urls": sorted(set(addresses))}
            await self._session.write(SQL["allow"], args)

    async def check(self, url: str) -> None:
        """Raises ToolError if the run may not fetch this address."""
        if not await self.is_tainted():
            return
        address = canonical(url)
        args = {"run_id": self._session.caller.run_id, "url": address}
        [row] = await self._session.rows(SQL["grounds"], args)  # the run of a call is there
        if row["by_search"] or any(
            address in addresses_in(text) for text in (row["topic"], *row["messages"])
        ):
            return
        raise ToolError(
            "This run has read private files, so it fetches only addresses that web_search gave it or that stand in its "
            f"topic or in a person's message; {address[:SHOWN_CHARS]} is none of them. Find a source with web_search."
        )

    async def check_words(self, message: str, *, receiver: str) -> None:
        """Call it before words leave for somebody outside; the receiver is named in the error.

        Raises:
            ToolError: The run has read private material, and these words stand only there.
        """
        if settings().private_queries == "refuse" and await self.is_tainted():
            await PrivateTexts(self._session).check(message, receiver=receiver)


async def save_taint(session: Session, *, n: int, result: str) -> None:
    """Store that a call has read private material, whether `mark_tainted` said so or its result shows private facts.

    Args:
        n: The entry that made the call.
    """
    if session.caller.run_id is not None and await PrivateTexts(session).save(n, result):
        await session.write(SQL["mark_tainted"], {"run_id": session.caller.run_id})


def addresses_in(text: str) -> set[str]:
    """The addresses in a text, canonical, with and without the punctuation that follows them."""
    addresses = (match[0] for match in ADDRESS.finditer(text) if len(match[0].encode()) < URL_BYTES_MAX)
    return {canonical(form) for address in addresses for form in (address, address.rstrip(AFTER_ADDRESS))}
