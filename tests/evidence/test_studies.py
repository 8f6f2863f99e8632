"""Which sources are one origin by the works they are and the studies they name; texts of served pages in small."""

import time

import pytest
from support.served_works import words

from chiron_workers.evidence.copies import sketch
from chiron_workers.evidence.origins import Assertion, group_origins
from chiron_workers.evidence.studies import Study, as_rows, from_rows, studies_of
from chiron_workers.evidence.study_names import surname_of
from chiron_workers.evidence.works import Record

ICE = "The Aletsch glacier lost 12 metres of ice."
Texts = tuple[str, str]


def references(names: str) -> str:
    """A list of works by DOIs."""
    return "\nReferences\n" + "\n".join(f"{n}. doi:10.1234/{name}" for n, name in enumerate(names, 1))


ONE_STUDY: dict[str, tuple[Texts, Texts]] = {
    "a journal, an author and a year in other words": (
        ("A 2019 Lancet study by Maria Keller of the University of Bern tells of ice.", ""),
        ("Maria Keller, lead author of the study in The Lancet (2019), tells of ice.", ""),
    ),
    "another name of the journal": (
        ("Published in the Proceedings of the National Academy of Sciences in 2021, the study by Ana Souza is new.", ""),
        ("Dr. Ana Souza and her team report in PNAS (2021) that ice melts.", ""),
    ),
    "a day behind the journal": (
        ("Published in Nature on Monday, the study led by Ann Lee (2020) tells of ice.", ""),
        ("Lee et al. wrote in Nature (2020).", ""),
    ),
    "words in capitals behind the journal": (
        ("The study appeared in Nature and Ann Lee, lead author of the paper, is glad (2020).", ""),
        ("Lee et al. wrote in Nature (2020).", ""),
    ),
    "the beginning of a long article": (
        (f"A study in the journal Cell (2022) led by Jo Park tells of ice. {words('long', 1_500)}", ""),
        ("Jo Park's team wrote in Cell (2022).", ""),
    ),
    "a reference at the end": (
        (words("q", 600), "\n\nReference: Park J, Lee K. Thin ice. Cell. 2022;185(3):1-9. doi:10.1016/j.cell.2022.01.001"),
        ("The study (DOI 10.1016/J.CELL.2022.01.001) is new.", ""),
    ),
    "the title in a reference": (
        ("", "\nMore information: Jo Park et al, Thin ice in warm valleys, Cell Reports (2022)."),
        ('The paper "Thin Ice in Warm Valleys" is out.', ""),
    ),
    "the first of several studies": (
        (f"A study by Ann Lee appeared in Nature in 2020. {words('lead', 150)} {words('gap', 60)}",
         f"{words('rest', 120)}\n\nIn 2011 Jane Doe wrote in Cell.\n\n{words('x', 90)}\n\nKern et al. wrote in Science (2015)."),
        ("Lee et al. wrote in Nature (2020).", ""),
    ),
    "German": (
        ("Die Studie von Jo Park erschien 2022 in der Fachzeitschrift Cell Reports.", ""),
        ("Park und Kollegen veröffentlichten die Arbeit in Cell Reports (2022).", ""),
    ),
}  # fmt: skip
NO_STUDY: dict[str, tuple[Texts, Texts]] = {
    "two DOIs with one journal, author and year": (
        ("Lee et al., Science (2021), doi:10.1126/science.aaa1111.", ""),
        ("Lee et al., Science (2021), doi:10.1126/science.bbb2222.", ""),
    ),
    "two DOIs at the end of what names one journal, author and year": (
        ("A study by Ann Lee appeared in Science in 2021.", f"{words('gap', 120)}\n\nSource: doi:10.1126/science.aaa1111"),
        ("Lee and her team wrote in Science (2021).", f"{words('way', 120)}\n\nSource: doi:10.1126/science.bbb2222"),
    ),
    "two years": (("Lee et al. in Science (2019).", ""), ("Lee et al. in Science (2021).", "")),
    "two authors": (
        ("A study in Nature by Jane Doe (2020).", ""),
        ("A study in Nature by Ana Souza (2020).", ""),
    ),
    "no author": (("In 2020 a study appeared in Nature.", ""), ("In 2020 another one appeared in Nature.", "")),
    "one expert on two studies": (
        ("A study led by Ann Lee appeared in Nature in 2020. Dr. Otto Kern was not involved in the study.", ""),
        ("A study led by Jo Park appeared in Nature in 2020. Dr. Otto Kern finds it good.", ""),
    ),
    "an earlier study that one of two articles tells of": (
        (f"A study by Ann Lee appeared in Nature in 2020. {words('lead', 150)}",
         f"{words('rest', 120)}\n\nIn 2011 Jane Doe wrote in Cell.\n\n{words('x', 90)}\n\nKern et al. wrote in Science (2015)."),
        ("Jane Doe's study appeared in Cell in 2011.", ""),
    ),
    "lists of references behind the quote": (("", references("abcd")), ("", references("axyz"))),
    "what two people say": (
        ('He said "it is the worst summer we have had". A report tells of it.', ""),
        ('A report tells of it. She said "it is the best summer we have had".', ""),
    ),
}  # fmt: skip


def source(url: str, texts: Texts = ("", ""), *, quote: str = ICE, record: Record | None = None) -> Assertion:
    """A source with words of its own around the quote, and with texts before and behind these."""
    text = f"{texts[0]} {words(url, 40)} {quote} {words(url[::-1], 40)} {texts[1]}".strip()
    start = text.index(quote)
    return Assertion(
        url,
        0.6,
        True,
        sketch(text),
        quote,
        place=(start, start + len(quote)),
        record=record or Record(),
        studies=studies_of(text),
    )


@pytest.mark.parametrize("texts", ONE_STUDY.values(), ids=ONE_STUDY)
def test_articles_that_name_one_study_are_one_origin(texts: tuple[Texts, Texts]) -> None:
    [origin] = group_origins([source("https://a.org/1", texts[0]), source("https://b.net/2", texts[1])])
    assert origin.ties in (("the same study",), ("the same work",))


@pytest.mark.parametrize("texts", NO_STUDY.values(), ids=NO_STUDY)
def test_articles_that_name_different_studies_are_two_origins(texts: tuple[Texts, Texts]) -> None:
    pair = [source("https://a.org/1", texts[0]), source("https://b.net/2", texts[1])]
    assert len(group_origins(pair)) == 2


@pytest.mark.parametrize(
    "quote",
    [
        "The mayor told us that the Aletsch glacier lost 12 metres of ice.",
        "According to the ministry the Aletsch glacier lost 12 metres of ice.",
        "By our own measurements the Aletsch glacier lost 12 metres of ice.",
    ],
)
def test_what_an_article_has_from_elsewhere_is_not_the_study_s(quote: str) -> None:
    study = ("A new study (doi:10.1234/abc) tells of ice.", "")
    pair = [source("https://a.org/1", study, quote=quote), source("https://b.net/2", study)]
    assert len(group_origins(pair)) == 2


@pytest.mark.parametrize(
    ("title", "other_title", "count"),
    [
        ("Thin ice in warm valleys | medRxiv", "THIN ICE IN WARM VALLEYS: Cell", 1),
        ("[2301.00001] Thin ice in warm valleys", "Phys. Rev. Lett. 1, 1 (2023) - Thin ice in warm valleys", 1),
        ("Thin ice in warm valleys", "Thin ice in warm valleys: part two of a survey", 2),
        ("Thin ice", "Thin ice", 2),
    ],
)  # fmt: skip
def test_a_title_and_a_first_author_are_one_work(title: str, other_title: str, count: int) -> None:
    pair = [
        source("https://a.org/1", record=Record(title, ("Park, Jo", "Lee, Kim"))),
        source("https://b.net/2", record=Record(other_title, ("Jo Park",))),
    ]
    assert len(group_origins(pair)) == count
    other_author = [pair[0], source("https://b.net/2", record=Record(title, ("Kim Lee",)))]
    assert len(group_origins(other_author)) == 2


@pytest.mark.parametrize(
    "author",
    ["Jo Park", "Park, Jo", "Park J", "Park JK", "J. Park", "Jo Park, Kim Lee", "Park, Jo; Lee, Kim", "Jo Park and Kim Lee"],
)  # fmt: skip
def test_the_first_author_has_one_family_name_in_every_spelling(author: str) -> None:
    assert surname_of(author) == "park"


@pytest.mark.parametrize(
    ("author", "other_author", "count"),
    [
        ("Statistics Office", "Post Office", 2),
        ("Statistics Office", "The statistics office", 1),
        ("Editorial staff", "Editorial Staff", 2),
        ("Jane Smith", "John Smith", 2),
        ("Jane Smith", "Smith J.", 1),
        ("Dr. Jane Smith", "Smith, Jane Ann", 1),
        ("van der Berg, Anna", "Anna van der Berg", 1),
        ("García Márquez, Gabriel José", "Gabriel García Márquez", 1),
        ("Élise Martin", "Martin, Elise", 1),
        ("Élise Martin", "Martin, Jean", 2),
        ("王伟", "王伟", 1),
    ],
)
def test_pages_of_one_title_are_one_work_where_their_authors_are_alike(
    author: str, other_author: str, count: int
) -> None:
    pair = [
        source(url, record=Record("Population of the city 2021", (name,)))
        for url, name in (("https://a.org/1", author), ("https://b.net/2", other_author))
    ]
    assert len(group_origins(pair)) == count


def test_the_doi_that_a_page_states_goes_before_that_of_its_address() -> None:
    stated = source("https://onlinelibrary.wiley.com/doi/10.1234/old", record=Record(doi="doi:10.1234/NEW"))
    pages = [stated, source("https://doi.org/10.1234/new"), source("https://doi.org/10.1234/old")]
    assert sorted(len(origin.urls) for origin in group_origins(pages)) == [1, 2]


@pytest.mark.parametrize(
    ("url", "other_url"),
    [
        ("https://doi.org/10.21203/rs.3.rs-123/v1", "https://doi.org/10.21203/rs.3.rs-123/v2"),
        ("https://doi.org/10.12688/f1000research.12345.1", "https://doi.org/10.12688/f1000research.12345.3"),
        ("https://doi.org/10.6084/m9.figshare.123.v1", "https://doi.org/10.6084/m9.figshare.123"),
        ("https://doi.org/10.1371/journal.pone.0001234.g001", "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0001234"),
        ("https://ar5iv.labs.arxiv.org/html/2301.00001", "https://arxiv.org/abs/2301.00001v2"),
        ("https://sci-hub.se/10.1038/s41586-020-2649-2", "https://www.nature.com/articles/s41586-020-2649-2.pdf"),
    ],
)  # fmt: skip
def test_versions_and_parts_of_a_work_are_the_work(url: str, other_url: str) -> None:
    assert len(group_origins([source(url), source(other_url)])) == 1


PAPER = Record("Thin ice in warm valleys", ("Jo Park",), "10.1038/s41561-024-01234-5", 2024)


@pytest.mark.parametrize(
    ("url", "texts", "record"),
    [
        ("https://arxiv.org/abs/2301.00001", ("", ""), Record(doi="10.1038/s41561-024-01234-5")),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC123/", ("Nat Geosci. 2024; doi: 10.1038/s41561-024-01234-5", ""), Record()),
        ("https://a.org/news", ("In Nature Geoscience (2024), Park and his team tell of ice.", ""), Record()),
        ("file:///papers/ice.pdf", ("https://doi.org/10.1038/s41561-024-01234-5", references("abcdefgh")), Record()),
    ],
    ids=["a preprint server states the journal's DOI", "the first lines", "an article without a DOI", "a file of one's own"],
)  # fmt: skip
def test_a_paper_is_one_origin_with_its_copies_and_what_names_it(
    url: str, texts: Texts, record: Record
) -> None:
    paper = source(
        "https://www.nature.com/articles/s41561-024-01234-5",
        ("Nature Geoscience 17, 12 (2024).", ""),
        record=PAPER,
    )
    assert len(group_origins([paper, source(url, texts, record=record)])) == 1
    arxiv = source("https://arxiv.org/abs/2301.00001v2")
    assert len(group_origins([arxiv, paper, source(url, texts, record=record)])) == (
        1 if "arxiv" in url else 2
    )


def test_two_papers_of_one_author_in_a_journal_and_a_year_are_two_origins() -> None:
    texts = ("Nature Geoscience 17, 12 (2024).", "")
    records = [
        Record(title, ("Jo Park",), year=2024)
        for title in ("Thin ice in warm valleys", "Warm ice in thin air")
    ]
    pair = [
        source(f"https://pubmed.ncbi.nlm.nih.gov/{n}/", texts, record=record)
        for n, record in enumerate(records, 1)
    ]
    assert len(group_origins(pair)) == 2


def test_a_paper_that_cites_a_preprint_is_not_its_journal_version() -> None:
    cited = "\n12. Lee K. Warm ice. bioRxiv preprint doi: 10.1101/2020.01.01.123456"
    paper = source(
        "https://www.nature.com/articles/s41561-024-01234-5", ("", words("body", 600) + cited), record=PAPER
    )
    assert (
        len(group_origins([paper, source("https://www.biorxiv.org/content/10.1101/2020.01.01.123456v1")]))
        == 2
    )


@pytest.mark.parametrize(
    "names",
    [
        "See doi:10.1234/gravity and, for radar, doi:10.1234/radar.",
        'See the studies "Gravity of ice in warm valleys" and "Radar over ice in warm valleys".',
    ],
    ids=["DOIs", "titles"],
)
def test_a_review_that_names_two_studies_beside_a_quote_makes_no_one_of_them(names: str) -> None:
    review = source("https://a.org/review", ("This was reported in Nature Geoscience.", names))
    papers = [
        source(
            f"https://doi.org/10.1234/{name.split()[0].casefold()}",
            record=Record(f"{name} ice in warm valleys", (author,)),
        )
        for name, author in (("Gravity of", "Jo Park"), ("Radar over", "Ann Lee"))
    ]
    assert len(group_origins([*papers, review])) == 3


def test_studies_are_the_same_after_they_were_stored() -> None:
    text = source("https://a.org/1", ONE_STUDY["a reference at the end"][0])
    assert from_rows(as_rows(text.studies)) == text.studies != ()


@pytest.mark.parametrize("are_equal", [True, False], ids=["one name many times", "names of many years"])
def test_pages_that_name_many_studies_near_their_quotes_are_grouped_in_bounded_time(are_equal: bool) -> None:
    pages = [
        Assertion(
            f"https://s{n}.example/x",
            0.5,
            True,
            place=(300, 320),
            studies=tuple(
                Study(
                    10 * m,
                    10 * m + 5,
                    journal="pnas",
                    authors=frozenset({f"a{n}" if are_equal else "lee"}),
                    year=2000 if are_equal else 60 * n + m,
                    passages=((0, 10_000),),
                )
                for m in range(60)
            ),
        )
        for n in range(200)
    ]
    began = time.process_time()
    assert len(group_origins(pages)) == 200
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "words_of_page",
    ["Aaa ", "published in Aaa Bbb of Ccc ", '"aaaa bbbb cccc ', "10.1234/abcdef ", "A", "Dr. A. B. C. Aaa, Bbb ",
     "related doi 10.1234/x ", "told us ", "PNAS told us told me ", ". Aaa Bbb Ccc Ddd Eee Fff Ggg 1", "1. doi:10.1234/x\n"],
)  # fmt: skip
def test_a_page_of_a_stranger_is_looked_through_in_bounded_time(words_of_page: str) -> None:
    text = words_of_page * (300_000 // len(words_of_page))
    began = time.process_time()
    studies = studies_of(text)
    assert time.process_time() - began < 4
    assert len(studies) <= 60
