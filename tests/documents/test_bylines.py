"""Who wrote a page, and when it was published, as far as the page states it."""

import json
from datetime import UTC, datetime

import pytest

from chiron_workers.documents.html import read_html

WORDS = (
    "<p>"
    + "The harbour of Orm lies on the northern coast, and its quays are in use since 1901. " * 6
    + "</p>"
)


def page(head: str = "", body: str = WORDS) -> str:
    return f"<html><head><title>Orm</title>{head}</head><body><main><article>{body}</article></main></body></html>"


def meta(name: str, content: str, attribute: str = "name") -> str:
    return f'<meta {attribute}="{name}" content="{content}">'


def json_ld(**fields: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "NewsArticle"} | fields)}</script>'


# An article that the page points to, and the address of the page itself.
RELATED = '<link rel="canonical" href="https://orm.example/a">' + json_ld(
    url="https://orm.example/b", author="Related Writer", datePublished="2021-05-05"
)


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (meta("citation_author", "García Márquez, Gabriel") + meta("citation_author", "De La Cruz, María Elena"),
         ["García Márquez, Gabriel", "De La Cruz, María Elena"]),
        (meta("citation_author", "Ann Lee") + meta("author", "The Orm Times"), ["Ann Lee"]),
        (meta("DC.Creator", "Ortega y Gasset, José"), ["Ortega y Gasset, José"]),
        (meta("author", "Jane Smith, Kim Jones"), ["Jane Smith", "Kim Jones"]),
        (meta("author", "García Márquez, Gabriel"), ["García Márquez, Gabriel"]),
        (meta("author", "Ann Lee") + meta("author", "Bo Ek"), ["Ann Lee", "Bo Ek"]),
        (meta("article:author", "https://social.example/orm", "property"), []),
        (json_ld(author={"name": "Van Rossum, Guido"}), ["Van Rossum, Guido"]),
        (json_ld(author=[{"givenName": "Jan", "familyName": "van der Berg"}, {"name": "Acme & Sons"}]),
         ["van der Berg, Jan", "Acme & Sons"]),
        (json_ld(author="Ann Lee and Bo Ek"), ["Ann Lee", "Bo Ek"]),
        (json_ld(**{"@type": "ImageObject"}, author="Pho Tographer"), []),
        (json_ld(**{"@type": "Event"}, author="Host Ess") + json_ld(author="Ann Lee"), ["Ann Lee"]),
        (RELATED + json_ld(url="https://orm.example/a", author="Ann Lee"), ["Ann Lee"]),
        (meta("author", "admin"), []),
    ],
)  # fmt: skip
def test_page_authors_are_those_of_its_metadata_each_as_it_is_written(head: str, names: list[str]):
    assert list(read_html(page(head)).authors) == names


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        ("García Márquez, Gabriel", ["García Márquez, Gabriel"]),
        ("van der Berg, Jan", ["van der Berg, Jan"]),
        ("Jane Smith, Kim Jones", ["Jane Smith", "Kim Jones"]),
    ],
)
def test_a_name_in_a_byline_is_not_parted_at_its_own_comma(byline: str, names: list[str]):
    assert list(read_html(page(body=f'<span class="author">{byline}</span>{WORDS}')).authors) == names


def test_page_authors_may_be_marked_in_its_text():
    body = '<p>By <a rel="author" href="/x">Ann Cole</a></p>' + WORDS
    assert read_html(page(body=body)).authors == ("Ann Cole",)


@pytest.mark.parametrize(
    ("head", "day"),
    [
        (
            json_ld(datePublished="2019-03-04") + meta("article:modified_time", "2025-05-06", "property"),
            (2019, 3, 4),
        ),
        (
            meta("article:published_time", "2019-03-04T09:00:00+00:00", "property")
            + meta("date", "2025-05-06"),
            (2019, 3, 4),
        ),
        (
            meta("citation_publication_date", "2019/03") + meta("citation_online_date", "2019/03/04"),
            (2019, 3, 4),
        ),
        (meta("citation_date", "2019/3/4"), (2019, 3, 4)),
        (meta("pubdate", "20190304"), (2019, 3, 4)),
        (meta("article:modified_time", "2025-05-06T08:00:00Z", "property"), None),
        (meta("og:updated_time", "2025-05-06T08:00:00Z", "property"), None),
        (meta("last-modified", "Tue, 05 Mar 2019 01:00:00 GMT", "http-equiv"), None),
        (meta("lastmod", "2019-03-05"), None),
        (meta("dcterms.created", "2019-01-02"), None),
        (json_ld(dateModified="2025-01-02", dateCreated="2024-01-02"), None),
        (meta("citation_publication_date", "2019/03"), None),
        (meta("citation_publication_date", "2019"), None),
        (meta("citation_date", "2019/13/40"), None),
        (meta("citation_publication_date", "03/04/2019"), None),
        (meta("citation_publication_date", "13/04/2019"), (2019, 4, 13)),
        (meta("citation_publication_date", "03.04.2019"), (2019, 4, 3)),
        (meta("created", "2021-05-05"), None),
        (meta("dc.date.created", "2021-05-05"), None),
        (
            json_ld(**{"@type": "Comment"}, datePublished="2021-05-05") + json_ld(datePublished="2019-03-04"),
            (2019, 3, 4),
        ),
        (json_ld(**{"@type": "VideoObject"}, datePublished="2021-05-05"), None),
        (RELATED + json_ld(url="https://orm.example/a", datePublished="2019-03-04"), (2019, 3, 4)),
    ],
)
def test_a_page_is_published_on_the_day_that_it_states_as_that(head: str, day: tuple[int, int, int] | None):
    assert read_html(page(head)).published_at == (day and datetime(*day, tzinfo=UTC))


@pytest.mark.parametrize(
    ("body", "day"),
    [
        ('<time itemprop="datePublished" datetime="2020-01-02">x</time>', (2020, 1, 2)),
        ('<time datetime="2020-01-02">x</time>', (2020, 1, 2)),
        ('<time itemprop="dateModified" datetime="2020-01-02">x</time>', None),
        ("<p>Last updated: 2021-02-03</p>", None),
        ("<p>Last edited 2021-05-05</p>", None),
        ('<p>Last change: <time datetime="2021-05-05">May</time></p>', None),
        (
            '<time class="published" datetime="2019-03-04">4 March</time><p>This map was updated since.</p>',
            (2019, 3, 4),
        ),
    ],
)
def test_a_page_that_was_changed_was_not_published_then(body: str, day: tuple[int, int, int] | None):
    assert read_html(page(body=body + WORDS)).published_at == (day and datetime(*day, tzinfo=UTC))
