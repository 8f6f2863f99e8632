"""Feeds and JSON are read as entries."""

import pytest

from chiron_workers.documents.document import Document, UnreadableError
from chiron_workers.documents.omissions import describe
from chiron_workers.documents.read_file import Part, read_file
from chiron_workers.web.download import Download
from chiron_workers.web.page import parse_download

ATOM = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>Harbour news</title><entry><title>Quay &amp; pier reopened</title>
<author><name>A. Miller</name><email>a@example.org</email></author><updated>2025-05-02T00:00:00Z</updated>
<link href="http://example.org/quay"/>
<content type="html">&lt;p&gt;The quay is &lt;b&gt;240&lt;/b&gt; m long &amp;amp; open.&lt;/p&gt;</content>
</entry></feed>"""
RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Harbour</title><item><title>Pier</title>
<pubDate>Fri, 02 May 2025 00:00:00 GMT</pubDate><description><![CDATA[<p>The pier is <del>250</del> 240 m long &ndash; it is
open.</p><script>track()</script>]]></description><enclosure url="a.mp3"/><depth>12 m</depth></item>
<item><title>Slip</title><description>Closed in 2024 &ndash; for repairs.</description></item></channel></rss>"""


def fetch(source: str, content_type: str = "application/xml") -> Document:
    return parse_download(Download("https://example.org/feed", content_type, "", source.encode())).document


def test_an_atom_feed_is_its_entries_with_their_titles_and_dates() -> None:
    document = fetch(ATOM)
    assert document.title == "Harbour news"
    assert [block.text for block in document.blocks] == [
        "Quay & pier reopened",
        "Updated: 2025-05-02T00:00:00Z\nBy: A. Miller",
        "The quay is 240 m long & open.",
        "Link: http://example.org/quay",
    ]


def test_an_rss_feed_says_what_it_leaves_out() -> None:
    document = fetch(RSS)
    assert document.title == "Harbour"
    assert "Published: Fri, 02 May 2025 00:00:00 GMT" in document.text
    assert "The pier is 240 m long – it is open." in document.text
    assert "Closed in 2024 – for repairs." in document.text
    assert "depth: 12 m" in document.text, "what no table knows is written with its name"
    assert "track" not in document.text
    assert describe(document.left_out) == "1 enclosed file, 1 passage that is struck out"


def test_the_fields_of_a_group_are_those_of_its_entry() -> None:
    group = "<media:group><media:description>The deck is 3 m.</media:description><media:content url='a.mp4'/></media:group>"
    document = fetch(
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"><title>Films</title>'
        f"<entry><title>Deck</title>{group}</entry></feed>"
    )
    assert document.text == "Deck\n\nThe deck is 3 m."
    assert describe(document.left_out) == "1 enclosed file"


def test_a_file_reader_reads_a_feed_too() -> None:
    content = read_file(RSS.encode(), "news.xml", Part())
    assert (content.file_type, content.title) == ("feed", "Harbour")
    assert "The pier is 240 m long" in content.text


def test_entities_of_a_feed_are_not_expanded_and_broken_xml_is_read_as_far_as_it_goes() -> None:
    bomb = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    assert "aaaa" not in fetch(RSS.replace("Pier", "Pier &b;").replace('"?>', f'"?>{bomb}', 1)).text
    assert "The pier is 240 m long" in fetch(RSS.replace("</channel></rss>", "")).text
    with pytest.raises(UnreadableError):
        fetch("<rss")


JSON = '{"title": "Quays", "next": null, "items": [{"name": "North", "length": 1.50, "tags": ["old", "deep"], "at": {"lat": 54}},'
JSON += ' {"id": 12345678901234567890, "note": "<p>It is <del>not</del> open.</p>", "crew": [{"n": "A"}, {"n": "B"}]}]}'


def test_json_is_its_entries_and_numbers_keep_their_digits() -> None:
    document = fetch(JSON, "application/json")
    assert document.title == "Quays"
    assert [block.text for block in document.blocks] == [
        "title: Quays\nnext: null",
        "North",
        "name: North\nlength: 1.50\ntags: old; deep\nat.lat: 54",
        "id: 12345678901234567890\nnote: It is open.\ncrew[1].n: A\ncrew[2].n: B",
    ]
    assert describe(document.left_out) == "1 passage that is struck out"


def test_lines_of_json_are_entries_and_what_is_no_json_stays_as_it_is() -> None:
    lines = fetch('{"a": 1}\n{"a": 2}\n', "application/x-ndjson")
    assert [block.text for block in lines.blocks] == ["a: 1", "a: 2"]
    assert fetch('{"a": 1', "application/json").text == '{"a": 1'
    assert fetch("[" * 100_000, "application/json").text.startswith("[[")
