"""The objects of schema.org that a page has in its JSON-LD."""

import json
from collections.abc import Iterator
from typing import Any

CHARS_MAX = 500_000
ITEMS_MAX = 20  # of scripts in a page, and of objects in a script


# What stands beside a work or within it, as the end of a type's name: a comment, a talk on it, a shop that sells it.
OTHER_THINGS = (
    *("Image", "ImageObject", "Comment", "Answer", "Question", "WebSite", "WebPageElement", "VideoObject", "AudioObject"),
    *("MediaObject", "Review", "Rating", "Event", "Person", "Organization", "BreadcrumbList", "Offer", "JobPosting"),
    "SiteNavigationElement",
)  # fmt: skip


def is_work(thing: dict[str, Any]) -> bool:
    """Whether an object may be what the page itself publishes."""
    kinds = thing.get("@type")
    return not any(
        isinstance(kind, str) and kind.endswith(OTHER_THINGS)
        for kind in (kinds if isinstance(kinds, list) else [kinds])
    )


def things_of(tree: Any) -> Iterator[dict[str, Any]]:
    """The top objects of each script, or of its graph; objects that name this page come first.

    Scripts that are no JSON are passed over.
    """
    things = list(_all_things(tree))
    yield from sorted(things, key=lambda thing: not _is_of_page(thing, _canonical(tree)))


def _is_of_page(thing: dict[str, Any], address: str) -> bool:
    main = thing.get("mainEntityOfPage")
    named = [thing.get("url"), thing.get("@id"), main.get("@id") if isinstance(main, dict) else main]
    return bool(address) and any(isinstance(name, str) and name.split("#")[0] == address for name in named)


def _canonical(tree: Any) -> str:
    """The address that a page states as its own."""
    links = tree.xpath("//link[@rel='canonical']/@href | //meta[@property='og:url']/@content")
    return str(links[0]).strip() if links else ""


def _all_things(tree: Any) -> Iterator[dict[str, Any]]:
    scripts = [script for script in tree.iter("script") if "ld+json" in (script.get("type") or "").lower()]
    for script in scripts[:ITEMS_MAX]:
        try:
            data = json.loads((script.text or "")[:CHARS_MAX])
        except (ValueError, RecursionError):
            continue
        yield from _things(data)[:ITEMS_MAX]


def _things(data: object) -> list[dict[str, Any]]:
    top = data if isinstance(data, list) else [data]
    graphs = [
        thing["@graph"] for thing in top if isinstance(thing, dict) and isinstance(thing.get("@graph"), list)
    ]
    return [thing for group in (top, *graphs) for thing in group if isinstance(thing, dict)]
