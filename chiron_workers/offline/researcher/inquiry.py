"""Where an inquiry stands: what was searched, fetched, found and stored, all read from the conversation."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from chiron_workers.offline.researcher.arguments import fill, mended
from chiron_workers.offline.researcher.conversation import Call, Conversation, Leg
from chiron_workers.offline.researcher.findings import Finding, findings
from chiron_workers.offline.researcher.material import (
    Document,
    Source,
    address,
    document,
    joined,
    next_position,
    sources,
)
from chiron_workers.offline.researcher.properties import Purpose
from chiron_workers.offline.researcher.toolbelt import Tool, Toolbelt
from chiron_workers.offline.researcher.topic import broader, queries, topic
from chiron_workers.offline.researcher.words import terms, topic_terms

Wanted = tuple[Tool, dict[str, Any]]  # a tool and the arguments to call it with

FETCHED_AT_ONCE = 4
FETCHED_MAX = 8
PARTS_MAX = 3  # of one long document
_HITS_ASKED = 6


@dataclass(frozen=True)
class Inquiry:
    """One question (a leg of the conversation) and everything that was done for it."""

    conversation: Conversation
    belt: Toolbelt

    @property
    def leg(self) -> Leg:
        """The part of the conversation that belongs to the question."""
        return self.conversation.legs[-1]

    @cached_property
    def asked(self) -> str:
        """The topic, with what was added to it while the work went on."""
        return " ".join(dict.fromkeys(topic(question) for question in self.leg.questions))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The topic as comparable terms."""
        return topic_terms(self.asked)

    @cached_property
    def sources(self) -> list[Source]:
        """What the searches of this leg named, best first: high in several lists, and near to the topic in words."""
        points: dict[str, float] = {}
        named: dict[str, Source] = {}
        for call in self._calls(self.belt.search, self.leg):
            if call.failed:
                continue
            for place, source in enumerate(sources(call.pieces, self._address_key)):
                near = set(terms(f"{source.title} {source.snippet}")) & set(self.terms)
                points[source.url] = points.get(source.url, 0) + 1 / (place + 3) + 0.1 * len(near)
                named.setdefault(source.url, source)
        return sorted(named.values(), key=lambda source: (-points[source.url], source.url))

    @cached_property
    def documents(self) -> list[Document]:
        """Everything fetched in the conversation; where nothing can be fetched, what the searches showed."""
        named = {
            source.url: source
            for call in self._calls(self.belt.search)
            for source in sources(call.pieces, self._address_key)
            if not call.failed
        }
        read: dict[str, list[Document]] = {}
        for call in self._calls(self.belt.fetch):
            asked = self.value(call, Purpose.ADDRESS)
            if asked and not call.failed:
                url = address(call.pieces, self._address_key, asked=asked)
                known = named.get(asked, Source(url, "", ""))
                read.setdefault(url, []).append(document(call.pieces, replace(known, url=url)))
        found = {url: joined(parts) for url, parts in read.items()}
        if self.belt.fetch is None:
            found = {
                url: Document(url, one.title, (one.snippet,), one.quality)
                for url, one in named.items()
                if one.snippet
            }
        return list(found.values())

    @cached_property
    def findings(self) -> list[Finding]:
        """The statements that answer the topic; what an earlier leg stored is not found again."""
        earlier = frozenset(text for leg in self.conversation.legs[:-1] for text, _ in self.stored_in(leg))
        return findings(self.documents, self.asked, known=earlier)

    def stored_in(self, leg: Leg) -> list[tuple[str, str]]:
        """(statement, address) of each fact that was stored in a leg."""
        return [
            (self.value(call, Purpose.CONTENT), self.value(call, Purpose.ADDRESS))
            for call in self._calls(self.belt.store, leg)
            if not call.failed
        ]

    def failures(self) -> dict[str, int]:
        """How many calls of this leg failed and were not made good by a later one, by tool."""
        lost: dict[str, int] = {}
        for tool, purpose in (
            (self.belt.search, Purpose.QUERY),
            (self.belt.fetch, Purpose.ADDRESS),
            (self.belt.store, Purpose.CONTENT),
        ):
            outcomes: dict[str, bool] = {}
            for call in self._calls(tool, self.leg):
                outcomes[self.value(call, purpose)] = call.failed
            if tool and any(outcomes.values()):
                lost[tool.name] = sum(outcomes.values())
        return lost

    def searches(self) -> list[Wanted]:
        """Searches still to be made; a broader one when the first found nothing."""
        tool = self.belt.search
        if tool is None:
            return []
        wanted = self._outstanding(tool, Purpose.QUERY, [{Purpose.QUERY: query} for query in self._queries()])
        if wanted or self.sources:
            return wanted
        return self._outstanding(tool, Purpose.QUERY, [{Purpose.QUERY: broader(self.asked)}])

    def fetches(self) -> list[Wanted]:
        """Sources still to be fetched: the best few, the next ones for those that failed or said nothing."""
        tool = self.belt.fetch
        if tool is None:
            return []
        tried = {self.value(call, Purpose.ADDRESS) for call in self._calls(tool)}
        failed = sum(call.failed for call in self._calls(tool, self.leg))
        aim = FETCHED_AT_ONCE + failed
        if len(tried) >= FETCHED_AT_ONCE and not self.findings:
            aim += FETCHED_AT_ONCE
        earlier = {
            self.value(call, Purpose.ADDRESS)
            for leg in self.conversation.legs[:-1]
            for call in self._calls(tool, leg)
        }
        urls = [source.url for source in self.sources[: min(aim, FETCHED_MAX)] if source.url not in earlier]
        wanted: list[dict[Purpose, Any]] = [{Purpose.ADDRESS: url} for url in urls]
        return self._outstanding(tool, Purpose.ADDRESS, wanted + self._further_parts(tool))

    def _further_parts(self, tool: Tool) -> list[dict[Purpose, Any]]:
        """The next parts of long documents of this leg, PARTS_MAX of each at most."""
        if not tool.has(Purpose.POSITION):
            return []
        found: list[dict[Purpose, Any]] = []
        fetched = Counter(self.value(call, Purpose.ADDRESS) for call in self._calls(tool, self.leg))
        for call in self._calls(tool, self.leg):
            url = self.value(call, Purpose.ADDRESS)
            further = next_position(call.pieces, tool.purposes[Purpose.POSITION])
            if further and fetched[url] < PARTS_MAX and not call.failed:
                found.append({Purpose.ADDRESS: url, Purpose.POSITION: further})
        return found

    def stores(self) -> list[Wanted]:
        """Findings still to be stored."""
        if self.belt.store is None:
            return []
        return self._outstanding(
            self.belt.store, Purpose.CONTENT, [self._facts(finding) for finding in self.findings]
        )

    def value(self, call: Call, purpose: Purpose) -> str:
        """What a call was given for a purpose, as text."""
        for tool in (self.belt.search, self.belt.fetch, self.belt.store):
            if tool and tool.name == call.name and purpose in tool.purposes:
                return str(call.arguments.get(tool.purposes[purpose], ""))
        return ""

    @property
    def _address_key(self) -> str:
        return self.belt.fetch.purposes[Purpose.ADDRESS] if self.belt.fetch else ""

    def _queries(self) -> list[str]:
        return list(
            dict.fromkeys(query for question in self.leg.questions for query in queries(topic(question)))
        )

    def _calls(self, tool: Tool | None, leg: Leg | None = None) -> list[Call]:
        """The calls of a tool, in one leg or in the whole conversation."""
        made = self.conversation.calls if leg is None else leg.calls
        return [call for call in made if tool and call.name == tool.name]

    def _facts(self, finding: Finding) -> dict[Purpose, Any]:
        opposing = [f"{other.sentence.text} ({other.document.url})" for other in finding.opposing]
        return {
            Purpose.CONTENT: finding.sentence.text,
            Purpose.QUOTE: finding.sentence.quote,
            Purpose.ADDRESS: finding.document.url,
            Purpose.SCORE: finding.source_score,
            Purpose.CONFIDENCE: finding.confidence,
            **({Purpose.CONTRADICTIONS: opposing} if opposing else {}),
        }

    def _outstanding(self, tool: Tool, key: Purpose, wanted: Iterable[dict[Purpose, Any]]) -> list[Wanted]:
        """The calls that were not made yet, and those that failed once and can be mended."""
        found: list[Wanted] = []
        for values in wanted:
            arguments = self._arguments(tool, values)
            tells = [tool.purposes[purpose] for purpose in (key, Purpose.POSITION) if tool.has(purpose)]
            tries = [
                call
                for call in self._calls(tool, self.leg)
                if all(call.arguments.get(name) == arguments.get(name) for name in tells)
            ]
            if not tries:
                found.append((tool, arguments))
            elif len(tries) == 1 and tries[0].failed and (again := self._mended(tool, tries[0])) is not None:
                found.append((tool, again))
        return found

    def _arguments(self, tool: Tool, values: dict[Purpose, Any]) -> dict[str, Any]:
        known = {Purpose.TOPIC: self.asked.replace("/", "-"), Purpose.LIMIT: _HITS_ASKED, **values}
        return fill(tool, known, said=self.conversation.said, asked=self.asked)

    def _mended(self, tool: Tool, call: Call) -> dict[str, Any] | None:
        return mended(tool, call.arguments, call.text, said=self.conversation.said, asked=self.asked)
