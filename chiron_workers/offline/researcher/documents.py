"""What was read: the sources that searches named, and the documents fetched from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from chiron_workers.offline.researcher.conversation import Call
from chiron_workers.offline.researcher.sentences import Sentence, sentences


@dataclass(frozen=True, slots=True)
class Source:
    """A search result."""

    url: str
    title: str
    snippet: str


@dataclass(frozen=True)
class Document:
    """A fetched source with its parts, as they came."""

    url: str
    title: str
    texts: tuple[str, ...]

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its prose sentences, in order."""
        return tuple(sentence for text in self.texts for sentence in sentences(text))


def sources(search: Call) -> list[Source]:
    """The sources in the result of a web_search, best first."""
    hits = search.result if isinstance(search.result, list) and not search.is_failed else []
    return [
        Source(str(result["url"]), str(result.get("title") or ""), str(result.get("snippet") or ""))
        for result in hits
        if isinstance(result, dict) and result.get("url")
    ]


def documents(fetches: Iterable[Call], titles: Mapping[str, str]) -> list[Document]:
    """The documents in the results of web_fetch, the parts of a long one joined; `titles` are known by URL."""
    pages = [page.result for page in fetches if isinstance(page.result, dict) and not page.is_failed]
    by_url: dict[str, list[dict[str, object]]] = {}
    for page in pages:
        by_url.setdefault(str(page.get("url", "")), []).append(page)
    return [
        Document(
            url,
            titles.get(url) or str(parts[0].get("title") or ""),
            tuple(dict.fromkeys(str(part.get("text") or "") for part in parts)),
        )
        for url, parts in by_url.items()
    ]
