"""The bibliographies of a report, read back by parsers that others wrote."""

import json
import re

import bibtexparser
import jsonschema
import pytest
import rispy
from bibtexparser import middlewares
from reports.bibliography.csl_data import CSL_DATA

from chiron_api.reports.formats import bibtex, csl_json, ris
from chiron_api.reports.gathering import gather
from chiron_api.reports.report import Report

HOSTILE_TITLES = [
    "Braces { that } do {{ not close",
    "} @book{evil, title={x}} @comment{",
    "100 % of $5 & #1_x ~ ^ \\ \\input{/etc/passwd}",
    "Quotes \"double\" 'single' “curly” «guillemets»",
    "Two\nlines\r\nER  - \r\nTY  - BOOK\u2028three",
    "الجليد البحري \u202e gnirts desrever \u2066x\u2069",
    "海冰の厚さ 🧊 é e\u0301",
    "x" * 10_000,
    "\0\x1b[31m\ud800 red",
    "a, b and c and d",
    "   ",
]
BODY = "Ministry of {Ice} and Snow, Bureau 5%"


@pytest.fixture
async def report(sea_ice, pool) -> Report:
    """The report on a batch whose sources have hostile titles."""
    for n, title in enumerate(HOSTILE_TITLES):
        text = f"The gauge number {n} says that the ice is {n}.5 m thick. Nothing else."
        sea_ice.shelf.fact(
            "sea-ice", f"Gauge {n} says {n}.5 m.", f"https://user:pw@www.gauge{n}.org/a_b%20{{c}}&d~{n}", "gauges",
            quote=text.split(". ", maxsplit=1)[0], text=text, run_id=sea_ice.run,
        )  # fmt: skip
        sea_ice.shelf.connection.execute(
            "update fetches set title = %s, author = %s, published_at = '2024-02-03Z' where url like %s",
            (title.replace("\0", "").replace("\ud800", ""), BODY if n else "Jan van der Berg; O'Hara, Zoë",
             f"%gauge{n}.org%"),
        )  # fmt: skip
    return await gather(pool, sea_ice.batch)


def shown(title: str) -> str:
    """A title as it may stand on a line."""
    without = re.sub(
        "[\0-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]",
        "",
        title.replace("\r", " "),
    )
    return " ".join(without.split())


def csl_items(report: Report) -> dict[str, dict]:
    items = json.loads("".join(csl_json.render(report)))
    jsonschema.Draft7Validator(CSL_DATA).validate(items)
    return {item["id"]: item for item in items}


def gauges(items: dict[str, dict]) -> list[dict]:
    return [item for key, item in items.items() if key.startswith("gauge")]


def test_csl_json_has_each_source_once_with_what_is_known_of_it(report):
    items = csl_items(report)
    assert len(items) == len({source.url for source in report.sources})
    ice = next(item for key, item in items.items() if key.startswith("a-org-"))
    number = next(finding.number for finding in report.findings if "1.9 m thick" in finding.content)
    assert ice | {"id": ""} == {
        "id": "",
        "type": "webpage",
        "title": "Ice | <today>",
        "author": [{"family": "Ice", "given": "A."}],
        "issued": {"date-parts": [[2025, 5, 5]]},
        "accessed": {"date-parts": [[2026, 3, 1]]},
        "URL": "https://a.org/ice",
        "container-title": "a.org",
        "keyword": "Sea ice",
        "note": f"Cited by finding {number} of the report “Winter reading” ({report.made_at:%Y-%m-%d}); Licence: CC BY 4.0.",
        "custom": {"licence": "CC BY 4.0"},
    }
    by_title = {item["title"]: item for item in gauges(items)}
    assert {shown(title) for title in HOSTILE_TITLES[:-1] if "\0" not in title} <= by_title.keys()
    first = by_title[shown(HOSTILE_TITLES[0])]
    assert first["author"] == [
        {"family": "Berg", "given": "Jan", "non-dropping-particle": "van der"},
        {"family": "O'Hara", "given": "Zoë"},
    ]
    assert by_title[shown(HOSTILE_TITLES[1])]["author"] == [{"literal": BODY}]


def test_no_bibliography_shows_the_password_of_an_address(report):
    for module in (csl_json, bibtex, ris):
        assert ":pw@" not in "".join(module.render(report))


def bibtex_library(report: Report) -> bibtexparser.Library:
    text = "".join(bibtex.render(report))
    assert text.count("{") == text.count("}")
    library = bibtexparser.parse_string(text)
    assert not library.failed_blocks
    assert not library.comments
    assert not library.preambles
    assert not library.strings
    return library


def test_bibtex_is_read_back_as_it_was_meant(report):
    items, library = csl_items(report), bibtex_library(report)
    assert [entry.key for entry in library.entries] == list(items)
    for entry in library.entries:  # that decoder takes the names of braces for nothing
        entry["title"] = (
            entry["title"].replace(r"\textbraceleft{}", "\ue000").replace(r"\textbraceright{}", "\ue001")
        )
    for entry in middlewares.LatexDecodingMiddleware().transform(library).entries:
        item = items[entry.key]
        assert entry["title"].strip("{}").translate({0xE000: "{", 0xE001: "}", 0x2C6: "^"}) == item["title"]
        assert entry.get("year") is None or entry["year"] == str(item["issued"]["date-parts"][0][0])


def test_bibtex_takes_each_name_for_what_it_is(report):
    library = bibtex_library(report)
    separate, split = middlewares.SeparateCoAuthors(), middlewares.SplitNameParts()
    names = {
        entry.key: entry["author"]
        for entry in split.transform(separate.transform(library)).entries
        if "author" in entry
    }
    first, second = (authors for key, authors in names.items() if key.startswith(("gauge0-", "gauge1-")))
    assert [(name.first, name.von, name.last) for name in first] == [
        (["Jan"], ["van", "der"], ["Berg"]),
        (["Zoë"], [], ["O'Hara"]),
    ]
    assert [(name.first, name.von, len(name.last)) for name in second] == [([], [], 1)]


def test_no_text_of_bibtex_holds_a_special_of_latex(report):
    for entry in bibtex_library(report).entries:
        for name in ("title", "note", "author"):
            text = entry.get(name).value if entry.get(name) else ""
            without = re.sub(r"\\(?:[&%$#_]|text\w+\{\})", "", text)
            assert not re.search(r"[&%$#_~^\\]", without), text


def test_ris_is_read_back_as_it_was_meant(report):
    text = "".join(ris.render(report))
    assert "\n" not in text.replace("\r\n", "")
    blocks = text.split("\r\n\r\n")[:-1]
    for block in blocks:
        lines = block.split("\r\n")
        assert lines[0].startswith("TY  - ")
        assert lines[-1] == "ER  - "
        assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in lines)
    items, records = csl_items(report), rispy.loads(text)
    assert [record["id"] for record in records] == list(items)
    for record in records:
        item = items[record["id"]]
        assert record["title"] == item["title"]
        assert record.get("urls", [""])[0] == item.get("URL", "")
        assert record["keywords"] == ["Sea ice"]
        assert record["notes"] == [item["note"]]
    first = next(record for record in records if record["id"].startswith("gauge0-"))
    assert first["authors"] == ["van der Berg, Jan", "O'Hara, Zoë"]


async def test_a_source_has_the_authors_and_the_doi_that_it_states(sea_ice, pool):
    names = ["García Márquez, Gabriel José", "van der Berg, Jan", "Bell, Ann and Bo"]
    sea_ice.shelf.connection.execute(
        "update fetches set author = 'x', authors = %s, doi = 'doi:10.1000/Own' where url = 'https://a.org/ice'",
        (json.dumps(names),),
    )
    report = await gather(pool, sea_ice.batch)
    [source] = [source for source in report.sources if source.doi]
    assert (source.authors, source.doi) == (tuple(names), "10.1000/Own")
    [item] = [item for item in csl_items(report).values() if item.get("DOI")]
    assert item["DOI"] == "10.1000/Own"
    assert item["author"] == [
        {"family": "García Márquez", "given": "Gabriel José"},
        {"family": "Berg", "given": "Jan", "non-dropping-particle": "van der"},
        {"family": "Bell", "given": "Ann and Bo"},
    ]
    [record] = [record for record in rispy.loads("".join(ris.render(report))) if record.get("doi")]
    assert record["authors"] == names


async def test_a_document_of_ones_own_has_its_path(sea_ice, pool):
    sea_ice.shelf.fact(
        "sea-ice", "The log says 1.2 m.", "file:///data/ice%20%26%20snow.csv?range=1-2", "logs",
        quote="The log says 1.2 m.", text="The log says 1.2 m.", run_id=sea_ice.run,
    )  # fmt: skip
    report = await gather(pool, sea_ice.batch)
    paths = ["/data/ice & snow.csv (range 1-2)", "corpus://sea-ice/notes of mine.md"]
    items = [item for item in csl_items(report).values() if "path" in item.get("custom", {})]
    assert sorted(item["custom"]["path"] for item in items) == sorted(paths)
    assert all(item["note"].startswith(f"Document: {item['custom']['path']}; ") for item in items)
    ris_text, bibtex_text = "".join(ris.render(report)), "".join(bibtex.render(report))
    for path in paths:
        assert f"AV  - {path}\r\n" in ris_text
        assert f"howpublished = {{{path.replace('&', chr(92) + '&')}}}" in bibtex_text


async def test_a_key_is_the_same_in_each_report_and_no_two_are_alike(report, sea_ice, pool):
    sea_ice.shelf.connection.execute("update fetches set title = 'New', author = 'Else', published_at = null")
    later = await gather(pool, "sea-ice", with_candidates=True)
    keys = [entry.key for entry in bibtex_library(report).entries]
    assert set(keys) <= csl_items(later).keys()
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"[a-z0-9-]{1,60}", key) for key in keys)


@pytest.mark.parametrize("format", [csl_json, bibtex, ris])
async def test_a_report_without_sources_is_an_empty_bibliography(shelf, pool, format):
    shelf.subject("empty", "Empty")
    assert "".join(format.render(await gather(pool, "empty"))).strip() in {"[\n]", "[\n\n]", ""}
