"""Where research on a question stands: what was searched, fetched, found and stored, read from the conversation."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.researcher.conversation import Call, Conversation, Leg
from chiron_workers.offline.researcher.findings import Document, Finding, findings
from chiron_workers.offline.researcher.source_scores import source_score
from chiron_workers.offline.researcher.topic import queries, subject_id, topic
from chiron_workers.offline.researcher.words import terms

SEARCH, FETCH, STORE = "web_search", "web_fetch", "store_knowledge"
DUPLICATE, FURTHER_SOURCE = "duplicate", "joined"  # what becomes of a fact that is known
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
    def subject_id(self) -> str:
        """The subject that facts are stored under."""
        questions = [question for leg in self.conversation.legs for question in leg.questions]
        return subject_id("\n".join([self.conversation.system, *questions]), self.topic)

    @cached_property
    def urls(self) -> list[str]:
        """What the searches of this leg named, best first: high in several lists, and near to the topic in words."""
        points = Counter[str]()
        for search in self.leg.calls_of(SEARCH):
            for place, source in enumerate(_sources(search)):
                shared_terms = {*terms(f"{source.get('title')} {source.get('snippet')}")} & {
                    *terms(self.topic)
                }
                points[source["url"]] += 1 / (place + 3) + 0.1 * len(shared_terms)  # type: ignore[assignment]
        return sorted(points, key=lambda url: (-points[url], url))

    @cached_property
    def documents(self) -> list[Document]:
        """Everything fetched in the conversation, the parts of a long document joined."""
        hits = [source for search in self.conversation.calls_of(SEARCH) for source in _sources(search)]
        titles = {source["url"]: source.get("title") for source in hits}
        pages = [page.result for page in self.conversation.calls_of(FETCH) if isinstance(page.result, dict)]
        parts: dict[str, dict[str, None]] = {}
        for page in pages:
            titles[page["url"]] = titles.get(page["url"]) or page.get("title")
            parts.setdefault(page["url"], {})[str(page.get("text") or "")] = None
        return [Document(url, titles[url] or "", tuple(texts)) for url, texts in parts.items()]

    @cached_property
    def findings(self) -> list[Finding]:
        """The statements that answer the topic; what an earlier leg stored, or what was there, is not found again."""
        earlier_facts = {text for leg in self.conversation.legs[:-1] for text, _ in stored_facts(leg)}
        here, elsewhere = self._facts_there()
        known_texts = earlier_facts | here | elsewhere
        return findings(self.documents, self.topic, known_texts=known_texts, topic_texts=here)

    def failures(self) -> dict[str, int]:
        """How many calls of this leg failed and were not made good by a later one, by tool."""
        outcomes = {(call.name, _key(call.name, call.arguments)): call.is_failed for call in self.leg.calls}
        return Counter(tool for (tool, _), is_failed in outcomes.items() if is_failed)

    def searches(self) -> list[PlannedCall]:
        """Searches still to be made."""
        texts = dict.fromkeys(query for question in self.leg.questions for query in queries(topic(question)))
        common = {"subject_id": self.subject_id, "max_results": _RESULTS_MAX}
        return self._outstanding(SEARCH, ({"query": query, **common} for query in texts))

    def fetches(self) -> list[PlannedCall]:
        """Sources still to be fetched: the best few, the next ones for those that failed or said nothing."""
        calls = self.leg.calls_of(FETCH)
        count = FETCHED_AT_ONCE + sum(call.is_failed for call in calls)
        if len(calls) >= FETCHED_AT_ONCE and not self.findings:
            count += FETCHED_AT_ONCE
        earlier_calls = [call for leg in self.conversation.legs[:-1] for call in leg.calls_of(FETCH)]
        earlier_urls = {call.arguments.get("url") for call in earlier_calls}
        urls = [url for url in self.urls[: min(count, FETCHED_MAX)] if url not in earlier_urls]
        return self._outstanding(FETCH, [*({"url": url} for url in urls), *self._further_parts()])

    def stores(self) -> list[PlannedCall]:
        """Findings still to be stored."""
        return self._outstanding(STORE, map(self._fact, self.findings))

    def _further_parts(self) -> Iterator[dict[str, Any]]:
        """The next parts of long documents of this leg, PARTS_MAX of each at most."""
        calls = self.leg.calls_of(FETCH)
        parts_read = Counter(call.arguments.get("url") for call in calls)
        for call in calls:
            url, page = call.arguments.get("url"), call.result
            if isinstance(page, dict) and page.get("next_offset") and parts_read[url] < PARTS_MAX:
                yield {"url": url, "offset": page["next_offset"]}

    def _facts_there(self) -> tuple[set[str], set[str]]:
        """The statements of this leg that were stored before it: on this topic, and on others."""
        here: set[str] = set()
        elsewhere: set[str] = set()
        for call in self.leg.calls_of(STORE):
            receipt = call.result if isinstance(call.result, dict) else {}
            is_here = receipt.get("topic_path") == call.arguments.get("topic_path")
            if receipt.get("status") == DUPLICATE or (
                receipt.get("status") == FURTHER_SOURCE and not is_here
            ):
                (here if is_here else elsewhere).add(str(call.arguments.get("content")))
        return here, elsewhere

    def _fact(self, finding: Finding) -> dict[str, Any]:
        contradictions = [f"{item.sentence.text} ({item.document.url})" for item in finding.contradictions]
        return {
            "content": finding.sentence.text,
            "subject_id": self.subject_id,
            "source_url": finding.document.url,
            "source_score": source_score(finding.document.url),
            "topic_path": self.topic.replace("/", "-"),
            "confidence": finding.confidence,
            **({"contradictions": contradictions} if contradictions else {}),
            "quote": finding.sentence.quote,
        }

    def _outstanding(self, tool: str, calls_arguments: Iterable[dict[str, Any]]) -> list[PlannedCall]:
        """The calls that were not made yet, and those that failed once with an error that passes by itself."""
        attempts: dict[object, list[Call]] = {}
        for call in self.leg.calls_of(tool):
            attempts.setdefault(_key(tool, call.arguments), []).append(call)
        return [
            (tool, arguments)
            for arguments in (calls_arguments if tool in self.tools else ())
            if len(earlier := attempts.get(_key(tool, arguments), [])) < 2
            and all(call.is_failed and _TRANSIENT_ERROR.search(call.text) for call in earlier)
        ]


def stored_facts(leg: Leg) -> list[tuple[str, str]]:
    """(statement, URL) of each fact that was stored in a leg."""
    calls = [call.arguments for call in leg.calls_of(STORE) if not call.is_failed]
    return [(str(fact.get("content", "")), str(fact.get("source_url", ""))) for fact in calls]


def _sources(search: Call) -> list[dict[str, Any]]:
    """The sources in the result of a web_search, best first."""
    hits = search.result if isinstance(search.result, list) else []
    return [source for source in hits if isinstance(source, dict) and source.get("url")]


def _key(tool: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(arguments.get(name, "")) for name in _KEYS.get(tool, ()))
