import asyncio
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

import zstandard

from chiron_workers import ids
from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.evidence.disclosures.common_words import common_words
from chiron_workers.evidence.disclosures.disclosures import Disclosures
from chiron_workers.evidence.disclosures.listings import PublicWords
from chiron_workers.evidence.disclosures.rare_words import all_words, plain_text, rare_words
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings

SQL = load(__file__)
FACT_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
TEXTS_REMEMBERED = 2_000  # in this process, with their rare words
SHOWN_WORDS = 10
MESSAGE_CHARS_MAX = 10_000

Key = tuple[UUID, UUID | None, int, str]
# The rare words of private texts, which never change.
_spellings: OrderedDict[Key, dict[str, str]] = OrderedDict()
# A lock for each run: its messages go out one by one.
_turns: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class PrivateTexts:
    """What private material the run of a call has read, and which of its words may leave."""

    session: Session

    async def save(self, n: int, result: str) -> bool:
        """Record what private material the result of the call holds that this session is of; whether the run is to be marked.

        All of it is private where the call has read private files; otherwise the facts in it that rest on such files. A
        session that writes has that found, and the run marked, by what goes out with its last statement.

        Args:
            n: The entry that made the call.
        """
        caller = self.session.caller
        fact_ids = sorted(set(FACT_ID.findall(result)))
        if self.session.is_writing and not self.session.reads_private:
            if fact_ids:
                args = {"run_id": caller.run_id, "n": n, "call_id": caller.call_id, "fact_ids": fact_ids}
                new_ids = [ids.new_id() for _ in fact_ids]
                self.session.before_commit(Statement(SQL["save_shown"], args | {"ids": new_ids}))
            return False
        facts = await self.session.rows(SQL["private_facts"], {"fact_ids": fact_ids}) if fact_ids else []
        texts = [(fact["fact_id"], fact["text"]) for fact in facts]
        if self.session.reads_private:
            texts.append((None, None))
        if texts:
            args = {
                "ids": [ids.new_id() for _ in texts],
                "run_id": caller.run_id,
                "n": n,
                "call_id": caller.call_id,
                "fact_ids": [fact_id for fact_id, _ in texts],
                "texts": [text for _, text in texts],
            }
            await self.session.write(SQL["save"], args)
        return bool(texts)

    async def check(self, message: str, *, receiver: str) -> None:
        """Let a message go out, and record it.

        Raises:
            ToolError: It holds words that stand only in private material; they are named, and nothing may be sent.
        """
        caller = self.session.caller
        assert caller.run_id is not None
        if len(message) > MESSAGE_CHARS_MAX:
            raise ToolError(
                f"This run has read private files, so what it sends to {receiver} may have {MESSAGE_CHARS_MAX:,} characters "
                f"(got {len(message):,})."
            )
        lock = _turns.setdefault(caller.run_id, asyncio.Lock())
        async with lock:  # two halves of a word may be sent side by side
            if words := await self._disclosed_words(message):
                raise ToolError(_refusal(words, receiver))
            async with Session(self.session.pool, caller) as session:
                args = {"id": ids.new_id(), "run_id": caller.run_id, "call_id": caller.call_id}
                await session.write(SQL["record_message"], args | {"text": message})

    async def _disclosed_words(self, message: str) -> list[str]:
        caller = self.session.caller
        spellings = await self._spellings()
        topic = await self.session.row(SQL["topic"], {"run_id": caller.run_id})
        assert topic is not None  # the run of a call is there
        words_of_people = " \n ".join(
            [topic["topic"], topic["subject"], topic["subject_id"], *topic["messages"]]
        )
        rows = await self.session.rows(SQL["earlier_messages"], {"run_id": caller.run_id})
        earlier = [row["text"] for row in rows]

        def find() -> set[str]:
            harmless_words = all_words(words_of_people)
            private = [word for word in spellings if word not in harmless_words]
            disclosures = Disclosures(private, common_words(), harmless_words)
            return disclosures.find(message, earlier=earlier)

        words = await asyncio.to_thread(find)
        return sorted(spellings[word] for word in await self._without_public(words))

    async def _spellings(self) -> dict[str, str]:
        """The rare words of all private texts of the run, each with how it is written there."""
        run_id = self.session.caller.run_id
        assert run_id is not None
        spellings: dict[str, str] = {}
        for row in await self.session.rows(SQL["keys"], {"run_id": run_id}):
            key = run_id, row["id"], row["n"], row["call_id"]
            if key not in _spellings:
                args = {"run_id": run_id, "id": row["id"], "n": row["n"], "call_id": row["call_id"]}
                texts = await self.session.rows(SQL["text"], args)
                _spellings[key] = await asyncio.to_thread(_rare_words_of, [text["text"] for text in texts])
            _spellings.move_to_end(key)
            spellings = _spellings[key] | spellings
        while len(_spellings) > TEXTS_REMEMBERED:
            _spellings.popitem(last=False)
        return spellings

    async def _without_public(self, words: set[str]) -> set[str]:
        """Those that no page of the web makes public which the run or its batch has read."""
        if not words or settings().fetch_private:  # then nobody knows which page is public
            return words
        caller = self.session.caller
        args: dict[str, Any] = {"run_id": caller.run_id, "batch_id": caller.batch_id}
        public_words = PublicWords(words)
        for row in await self.session.rows(SQL["public_pages"], args):
            page = await self.session.row(SQL["page"], {"hash": row["hash"]})
            if page is not None:
                await asyncio.to_thread(_add_page, public_words, page["body"])
            if public_words.is_settled:
                break
        return public_words.private_words()


def _rare_words_of(texts: Sequence[str]) -> dict[str, str]:
    return rare_words("\n".join(plain_text(text) for text in texts), common_words())


def _add_page(public_words: PublicWords, body: bytes) -> None:
    public_words.add_page(all_words(zstandard.decompress(body).decode()))


def _refusal(words: Sequence[str], receiver: str) -> str:
    names = ", ".join(words[:SHOWN_WORDS]) + (
        f" and {len(words) - SHOWN_WORDS} more" if words[SHOWN_WORDS:] else ""
    )
    return (
        f"Not sent to {receiver}: this run has read private files, and these words stand only in them: {names}. Ask again "
        "without them, in general words; parts of them and codes for them are refused too."
    )
