"""Where research on a question stands: what was searched, fetched, found and stored, read from the conversation."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.researcher.conversation import Call, Conversation, Leg
from chiron_workers.offline.researcher.documents import Document, Source, documents, sources
from chiron_workers.offline.researcher.findings import Finding, findings
from chiron_workers.offline.researcher.topic import broader_query, queries, subject_id, topic
from chiron_workers.offline.researcher.words import terms, topic_terms

SEARCH, FETCH, STORE = "web_search", "web_fetch", "store_knowledge"
PlannedCall = tuple[str, dict[str, Any]]  # a tool and the arguments to call it with

FETCHED_AT_ONCE = 4
FETCHED_MAX = 8
PARTS_MAX = 3  # of one long document
_RESULTS_MAX = 6  # of one search
# The arguments that tell one call of a tool from another.
_KEYS = {SEARCH: ("query",), FETCH: ("url", "offset"), STORE: ("content",)}
_TRANSIENT_ERROR = re.compile(
    r"time[d ]?-?out|temporar|try (?:it )?again|unavailable|overloaded|not run|interrupted|connection", re.I
)


@dataclass(frozen=True)
class Research:
    """One question (the last leg of the conversation) and everything that was done for it."""

    conversation: Conversation
    tools: frozenset[str]  # the names of those that are offered

    @property
    def leg(self) -> Leg:
        """The part of the conversation that belongs to the question."""
        return self.conversation.legs[-1]

    @cached_property
    def topic(self) -> str:
        """The topic, with what was added to it while the work went on."""
        return " ".join(dict.fromkeys(topic(question) for question in self.leg.questions))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The topic as comparable terms."""
        return topic_terms(self.topic)

    @cached_property
    def subject_id(self) -> str:
        """The subject that facts are stored under."""
        return subject_id(self.conversation.text, self.topic)

    @cached_property
    def sources(self) -> list[Source]:
        """What the searches of this leg named, best first: high in several lists, and near to the topic in words."""
        points: defaultdict[str, float] = defaultdict(float)
        by_url: dict[str, Source] = {}
        for search in self.leg.calls_of(SEARCH):
            for place, source in enumerate(sources(search)):
                near = set(terms(f"{source.title} {source.snippet}")) & set(self.terms)
                points[source.url] += 1 / (place + 3) + 0.1 * len(near)
                by_url.setdefault(source.url, source)
        return sorted(by_url.values(), key=lambda source: (-points[source.url], source.url))

    @cached_property
    def documents(self) -> list[Document]:
        """Everything fetched in the conversation."""
        sources_found = [
            source for search in self.conversation.calls_of(SEARCH) for source in sources(search)
        ]
        return documents(
            self.conversation.calls_of(FETCH), {source.url: source.title for source in sources_found}
        )

    @cached_property
    def findings(self) -> list[Finding]:
        """The statements that answer the topic; what an earlier leg stored is not found again."""
        earlier_facts = frozenset(
            text for leg in self.conversation.legs[:-1] for text, _ in stored_facts(leg)
        )
        return findings(self.documents, self.topic, known_texts=earlier_facts)

    def failures(self) -> dict[str, int]:
        """How many calls of this leg failed and were not made good by a later one, by tool."""
        failures: dict[str, int] = {}
        for tool, (key, *_) in _KEYS.items():
            outcomes = {call.argument(key): call.is_failed for call in self.leg.calls_of(tool)}
            if any(outcomes.values()):
                failures[tool] = sum(outcomes.values())
        return failures

    def searches(self) -> list[PlannedCall]:
        """Searches still to be made; a broader one when the first found nothing."""
        texts = [query for question in self.leg.questions for query in queries(topic(question))]
        calls = self._outstanding(SEARCH, map(self._search, dict.fromkeys(texts)))
        if calls or self.sources:
            return calls
        return self._outstanding(SEARCH, [self._search(broader_query(self.topic))])

    def fetches(self) -> list[PlannedCall]:
        """Sources still to be fetched: the best few, the next ones for those that failed or said nothing."""
        fetched_urls = {call.argument("url") for call in self.conversation.calls_of(FETCH)}
        count = FETCHED_AT_ONCE + sum(call.is_failed for call in self.leg.calls_of(FETCH))
        if len(fetched_urls) >= FETCHED_AT_ONCE and not self.findings:
            count += FETCHED_AT_ONCE
        earlier_urls = {
            call.argument("url") for leg in self.conversation.legs[:-1] for call in leg.calls_of(FETCH)
        }
        urls = [
            source.url for source in self.sources[: min(count, FETCHED_MAX)] if source.url not in earlier_urls
        ]
        return self._outstanding(FETCH, [*({"url": url} for url in urls), *self._further_parts()])

    def stores(self) -> list[PlannedCall]:
        """Findings still to be stored."""
        return self._outstanding(STORE, map(self._fact, self.findings))

    def _search(self, query: str) -> dict[str, Any]:
        return {"query": query, "subject_id": self.subject_id, "max_results": _RESULTS_MAX}

    def _further_parts(self) -> list[dict[str, Any]]:
        """The next parts of long documents of this leg, PARTS_MAX of each at most."""
        parts: list[dict[str, Any]] = []
        calls = self.leg.calls_of(FETCH)
        parts_read = Counter(call.argument("url") for call in calls)
        for call in calls:
            offset = call.result.get("next_offset") if isinstance(call.result, dict) else None
            if offset and parts_read[call.argument("url")] < PARTS_MAX and not call.is_failed:
                parts.append({"url": call.argument("url"), "offset": offset})
        return parts

    def _fact(self, finding: Finding) -> dict[str, Any]:
        contradictions = [
            f"{version.sentence.text} ({version.document.url})" for version in finding.contradictions
        ]
        return {
            "content": finding.sentence.text,
            "subject_id": self.subject_id,
            "source_url": finding.document.url,
            "source_score": finding.source_score,
            "topic_path": self.topic.replace("/", "-"),
            "confidence": finding.confidence,
            **({"contradictions": contradictions} if contradictions else {}),
            "quote": finding.sentence.quote,
        }

    def _outstanding(self, tool: str, calls_arguments: Iterable[dict[str, Any]]) -> list[PlannedCall]:
        """The calls that were not made yet, and those that failed once with an error that passes by itself."""
        calls: list[PlannedCall] = []
        for arguments in calls_arguments if tool in self.tools else ():
            attempts = [call for call in self.leg.calls_of(tool) if _is_same(call, arguments)]
            if not attempts or (len(attempts) == 1 and _is_retryable(attempts[0])):
                calls.append((tool, arguments))
        return calls


def stored_facts(leg: Leg) -> list[tuple[str, str]]:
    """(statement, URL) of each fact that was stored in a leg."""
    calls = leg.calls_of(STORE)
    return [(call.argument("content"), call.argument("source_url")) for call in calls if not call.is_failed]


def _is_same(call: Call, arguments: dict[str, Any]) -> bool:
    return all(call.arguments.get(name) == arguments.get(name) for name in _KEYS[call.name])


def _is_retryable(call: Call) -> bool:
    return call.is_failed and bool(_TRANSIENT_ERROR.search(call.text))
