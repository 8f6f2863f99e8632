"""Feeds: each field of RSS that the reader's table knows, in the forms in which feeds write them."""

from collections.abc import Sequence
from random import Random

from chiron_workers.documents.document import Document
from chiron_workers.documents.feed import FURTHER_TEXT, read_feed

from .trial import Format, Probe

FIELDS = {
    "title": "<title>{0}</title>",
    "description": "<title>Pier</title><description>A &lt; b &amp; {0}</description>",
    "escaped HTML": "<description>&lt;p&gt;It is &lt;b&gt;{0}&lt;/b&gt;.&lt;/p&gt;</description>",
    "character data": "<description><![CDATA[<p>It is {0}.</p>]]></description>",
    "stray signs": "<description>It is x <b or y & {0}</description>",
    "full text": "<content:encoded><![CDATA[<p>{0}</p>]]></content:encoded>",
    "further text": "<description>It is open.</description><media:description>{0}</media:description>",
    "author": "<author>{0}</author>",
    "creator": "<dc:creator>{0}</dc:creator>",
    "contributor": "<dc:contributor>{0}</dc:contributor>",
    "date": "<pubDate>{0}</pubDate>",
    "category": "<category>{0}</category>",
    "link": "<link>https://example.org/{0}</link>",
    "rights": "<dc:rights>{0}</dc:rights>",
    "second title": "<title>Pier</title><media:title>{0}</media:title>",
    "text of a group": "<media:group><media:description>{0}</media:description></media:group>",
    "text of an enclosed file": "<media:content url='a.mp4'><media:description>{0}</media:description></media:content>",
    "attribute": "<yt:statistics views='{0}'/>",
    "nested attribute": "<x:price><x:amount unit='{0}'/></x:price>",
}
KINDS = {"further text": FURTHER_TEXT}


def build(probes: Sequence[Probe], chance: Random) -> bytes:
    """A feed with an entry for each probe."""
    items = list[str]()
    for probe in probes:
        name = probe.element
        pattern = FIELDS.get(
            name,
            f"<description>&lt;p>{probe.before}&lt;{name}>{{0}}&lt;/{name}>{probe.behind}&lt;/p></description>",
        )
        items.append(f"<item>{pattern.format(probe.words)}<ships>{chance.randint(2, 900)}</ships></item>")
    spaces = (
        'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/"'
    )
    channel = f"<channel><title>Harbour</title>{''.join(items)}</channel>"
    return f'<?xml version="1.0"?><rss version="2.0" {spaces}>{channel}</rss>'.encode()


def _read(data: bytes) -> Document:
    return read_feed(data.decode())


def _unknown(chance: Random) -> str:
    return "x-" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))


def _kind_of(element: str) -> str:
    return KINDS.get(element, "")


FORMAT = Format("feed", tuple(FIELDS), build, _read, _unknown, _kind_of)
