from html.parser import HTMLParser

import pytest

from chiron_api.reports.formats import html
from chiron_api.reports.gathering import gather

EMPTY = {"meta", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """What a page is made of; complains about tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []
        if tag[0] == "h" and tag[1:].isdigit():
            self.headings.append(int(tag[1:]))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
async def outline(sea_ice, pool):
    return Outline("".join(html.render(await gather(pool, sea_ice.run))))


async def test_the_page_loads_and_runs_nothing(outline):
    assert not outline.tags & {"script", "img", "link", "iframe", "object", "form", "svg", "audio", "video"}
    assert not outline.attributes & {"src", "srcset", "style", "background"}
    assert not [name for name in outline.attributes if name.startswith("on")]


async def test_every_link_leads_to_a_place_of_the_page_or_a_safe_address(outline):
    assert len(outline.ids) == len(set(outline.ids))
    inward = [link[1:] for link in outline.links if link.startswith("#")]
    assert set(inward) <= set(outline.ids)
    outward = [link for link in outline.links if not link.startswith("#")]
    assert {link.partition(":")[0] for link in outward} == {"https"}
    assert any("y=%3C2%3E" in link for link in outward)
    assert {one for one in outline.ids if one[0] == "s" and one[1:].isdigit()} <= set(inward)


async def test_headings_are_in_order(outline):
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    assert all(
        later - earlier <= 1 for earlier, later in zip(outline.headings, outline.headings[1:], strict=False)
    )
    assert {"main", "header", "nav", "article"} <= outline.tags


async def test_words_of_strangers_are_shown_as_they_are(sea_ice, pool):
    text = "".join(html.render(await gather(pool, sea_ice.run)))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\u202e" not in text
    assert "and were not checked" in text
