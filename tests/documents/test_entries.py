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


def rss(description: str, behind: str = "") -> str:
    item = f"<item><title>Pier</title><description>{description}</description>{behind}</item>"
    channel = f"<channel><title>T</title>{item}<item><title>Slip</title></item></channel>"
    return f'<?xml version="1.0"?><rss version="2.0">{channel}</rss>'


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ("p < 0.05 & n > 3; AT&T and x<5", "p < 0.05 & n > 3; AT&T and x<5"),
        ("It is not raised if x &lt;b or y in 40 % of cases.", "It is not raised if x <b or y in 40 % of cases."),
        ("It holds for a &lt;s and t&gt; 5 only.", "It holds for a <s and t> 5 only."),
        ("It holds for a <s and t> 5 only.", "It holds for a <s and t> 5 only."),
        ("&lt;p&gt;It is x &lt;b or y.&lt;/p&gt;", "It is x <b or y."),
        ("AT&amp;amp;T &foo; &micro;g &#150; 5", "AT&T &foo; µg – 5"),
        ("<![CDATA[<p>open 5", "open 5"),
        ("<![CDATA[open 5</description><x><![CDATA[6]]></x><description>", "open 5"),
        ("<a>" * 300 + "5" + "</a>" * 300, "5"),
        ("Is <!-- 5 6", "Is <!-- 5 6"),
    ],
)  # fmt: skip
def test_stray_signs_and_broken_parts_of_a_feed_lose_no_words(description: str, words: str) -> None:
    document = fetch(rss(description))
    assert words in document.text
    assert "Slip" in document.text, "what stands behind is there"


def test_text_of_atom_without_a_type_is_no_html() -> None:
    entry = "<entry><title>E</title><content>It holds if x &lt;b> or y&lt;/b> &amp;amp; z.</content></entry>"
    source = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>{entry}</feed>'
    assert "It holds if x <b> or y</b> &amp; z." in fetch(source).text


def test_xml_that_stays_broken_is_listed() -> None:
    assert "feed whose XML is broken" in describe(fetch(rss("<b>x<i></b></i>")).left_out)


def test_a_feed_prefers_its_own_names_and_loses_no_other_text() -> None:
    photo = '<media:description xmlns:media="m">A crane.</media:description>'
    further = (
        '<yt:statistics views="5"/><description>Another one.</description><media:title>Photo</media:title>'
    )
    document = fetch(rss("The quay is 240 m.", photo + further).replace("<item>", f"<item>{photo}", 1))
    assert "The quay is 240 m." in document.text
    assert "statistics.views: 5" in document.text
    assert "title: Photo" in document.text
    assert describe(document.left_out) == "3 further texts of an entry (first: <description>)"


def test_a_feed_is_recognised_whatever_its_label_and_charset() -> None:
    assert fetch(rss("The quay is 240 m long &amp; open."), "text/html").text.startswith(
        "Pier\n\nThe quay is"
    )
    body = rss("täglich").encode("utf-16")
    download = Download("https://example.org/f", "application/xml", "", body)
    assert parse_download(download).document.text == "Pier\n\ntäglich\n\nSlip"


def test_json_is_read_to_its_end() -> None:
    entries = ",".join(f'{{"a":"x{n}"}}' for n in range(30_000))
    assert "x29999" in fetch(f"[{entries}]", "application/json").text
    members = ",".join(f'"k{n}":{n}' for n in range(30_000))
    assert "k29999: 29999" in fetch(f'{{"a":{{{members}}}}}', "application/json").text


def test_a_file_of_json_on_one_line_keeps_its_digits_and_all_members() -> None:
    source = (
        '{"a":1.500,"b":1E2,"c":1e400,"d":1,"d":2,"e":[],"f":[1, "\\u00b5{,"],"g":{"h":null},"x":"'
        + "x" * 2100
    )
    text = read_file(f'{source}"}}'.encode(), "a.json", Part()).text
    assert text.split(',\n "x"')[0] == (
        '{\n "a": 1.500,\n "b": 1E2,\n "c": 1e400,\n "d": 1,\n "d": 2,\n "e": [],\n "f": [\n  1,\n  "µ{,"\n ],\n'
        ' "g": {\n  "h": null\n }'
    )
