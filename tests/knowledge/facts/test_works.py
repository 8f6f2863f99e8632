"""Which sources count once and which twice, where facts are stored from pages that were served."""

from collections.abc import Callable

import pytest
from support.scripted_sites import serving
from support.served_works import PageOfWeb, store_from, words

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts.confidences import Confidences
from chiron_workers.runs.session import Session
from chiron_workers.store import Store

ICE = "The Aletsch glacier lost 12 metres of ice."
TITLE = "Rapid thinning of alpine glaciers in warm summers"
DOI = "10.1038/s41561-024-01234-5"
RELEASE = words("release", 80)
ENTRY = words("entry", 900)
CHINESE = (
    "研究人员在山谷中测量了冰的厚度，并与二十年前的地图进行了比较。结果表明，夏季的高温使冰层迅速变薄。"
    "他们认为未来几十年里水的供应会减少。"
)


def page(
    url: str, *before: str, title: str = "", behind: tuple[str, ...] = (), statement: str = ICE, **meta: str
) -> PageOfWeb:
    """A page with words of its own around the statement."""
    tags = tuple((f"citation_{name}", value) for name, value in meta.items())
    paragraphs = (*before, words(f"{url} a", 40), statement, words(f"{url} b", 40), *behind)
    return PageOfWeb(url, paragraphs, title, tags)


def news(host: str, *before: str, behind: tuple[str, ...] = (), statement: str = ICE) -> PageOfWeb:
    """An article of a newspaper."""
    return page(f"https://{host}/ice", *before, behind=behind, statement=statement)


def paper(
    url: str, doi: str, title: str, author: str, *before: str, behind: tuple[str, ...] = ()
) -> PageOfWeb:
    """A paper whose page states what it is."""
    return page(url, *before, behind=behind, title=title, title_=title, doi=doi, author=author)


STUDY = "A study led by Ingrid Solberg, published in Nature Geoscience in {year}, tells of ice."
LETTER = "Writing in the journal Nature Geoscience (2024), {name} and colleagues warn of thin ice."
BANNER = (
    "We value your privacy. We and our partners store and access information on a device such as cookies and process personal"
    " data such as unique identifiers and standard information sent by a device for personalised advertisements and content,"
    " for the measurement of these, for insights into audiences and to develop and improve products."
    " With your permission we may use your precise place and identify your device by a scan."
)
NATURE = paper(f"https://www.nature.com/articles/{DOI.partition('/')[2]}", DOI, TITLE, "Ingrid Solberg")
DEPENDENT = {
    "doi.org and the journal": (page(f"https://doi.org/{DOI}"), page("https://www.nature.com/articles/s41561-024-01234-5")),
    "PubMed and the journal": (paper("https://pubmed.ncbi.nlm.nih.gov/38123456/", DOI, "", ""), NATURE),
    "PMC and the journal, by title and first author": (
        page("https://pmc.ncbi.nlm.nih.gov/articles/PMC10012345/", title=f"{TITLE} - PMC", author="Solberg, Ingrid"), NATURE),
    "two addresses of PubMed": (
        page("https://pubmed.ncbi.nlm.nih.gov/38123456/"), page("https://www.ncbi.nlm.nih.gov/pubmed/38123456")),
    "Europe PMC and PMC": (
        page("https://europepmc.org/article/PMC/PMC10012345"), page("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC10012345/")),
    "a preprint and its journal version, by title and first author": (
        paper("https://www.biorxiv.org/content/10.1101/2023.05.01.538950v2", "10.1101/2023.05.01.538950",
        TITLE.upper(), "Solberg I"),
        NATURE),
    "a preprint that names its journal version": (
        page("https://www.medrxiv.org/content/10.1101/2023.05.01.23289012v1", f"Now published in Nature Geoscience doi: {DOI}"),
        NATURE),
    "arXiv, which names the journal's DOI": (
        page("https://arxiv.org/abs/2305.01234", f"Journal reference: Nature Geoscience (2024). Related DOI: https://doi.org/{DOI}"),
        NATURE),
    "two versions at arXiv": (page("https://arxiv.org/abs/2305.01234v1"), page("https://arxiv.org/pdf/2305.01234v3")),
    "two versions of a preprint": (
        page("https://www.researchsquare.com/article/rs-123456/v1", doi="10.21203/rs.3.rs-123456/v1"),
        page("https://doi.org/10.21203/rs.3.rs-123456/v2")),
    "the Wayback Machine and the page": (
        page("https://web.archive.org/web/20200101120000/https://alps.example.org/ice"),
        page("https://www.alps.example.org/new-ice")),
    "archive.ph and the page": (
        page("https://archive.ph/2024.01.02-030405/https://alps.example.org/ice"), page("https://alps.example.org/ice")),
    "a translation and the page": (
        page("https://alps--news-example-org.translate.goog/ice?_x_tr_sl=de"), page("https://alps-news.example.org/ice")),
    "an AMP cache and the page": (
        page("https://alps-example-org.cdn.ampproject.org/c/s/alps.example.org/ice"), page("https://alps.example.org/ice")),
    "a reading service and the page": (page("https://r.jina.ai/https://alps.example.org/ice"),
    page("https://alps.example.org/ice")),
    "two domains of a broadcaster": (page("https://www.bbc.com/news/1"), page("https://www.bbc.co.uk/news/2")),
    "two magazines of a publisher": (page("https://www.wired.com/story/ice"), page("https://arstechnica.com/science/ice")),
    "a repository and the pages of its owner": (page("https://github.com/Alps/ice"), page("https://alps.github.io/ice/")),
    "two addresses of a blog": (page("https://medium.com/@alps/ice-1a2b"), page("https://alps.medium.com/ice-2b3c")),
    "an encyclopedia and its mirror": (page("https://en.wikipedia.org/wiki/Aletsch"),
    page("https://www.wikiwand.com/en/Aletsch")),
    "a press release within a longer page": (
        PageOfWeb("https://institute.example.org/release", (f"{RELEASE[:300]} {ICE} {RELEASE[300:]}",)),
        page("https://paper.example.net/ice", words("own", 300), behind=(words("more", 500),),
             statement=f"{RELEASE[:300]} {ICE} {RELEASE[300:]}")),
    "a passage of an encyclopedia within a longer page": (
        PageOfWeb("https://encyclopedia.example.org/aletsch", (f"{ENTRY[:2500]} {ICE} {ENTRY[2500:]}",)),
        page("https://travel.example.net/ice", words("tour", 300), behind=(words("hotels", 300),),
             statement=f"{ENTRY[2350:2500]} {ICE} {ENTRY[2500:2650]}")),
    "a press release in Chinese within a longer page": (
        PageOfWeb("https://institute.example.org/zh", (f"{CHINESE} {ICE}",)),
        page("https://paper.example.net/zh", words("other", 100), behind=(CHINESE, words("end", 200)))),
    "two articles that name a study by its DOI": (
        news("alpine.example.org", behind=(f"More information: doi.org/{DOI}",)),
        news("valley.example.net", f"A study says so (doi:{DOI}).")),
    "two articles that name a study by its title": (
        news("alpine.example.org", f'The paper, "{TITLE}", appeared this week.'),
        news("valley.example.net", f"Ice melts, says a new study entitled “{TITLE}”.")),
    "two articles that name journal, author and year": (
        news("alpine.example.org", STUDY.format(year=2024)),
        news("valley.example.net", LETTER.format(name="Solberg"))),
    "an article and the study that it names": (news("alpine.example.org", f"A new study (doi:{DOI}) tells of ice."), NATURE),
    "an article that names the title of a paper, and the paper": (news("alpine.example.org", f'The study "{TITLE}" is out.'),
    NATURE),
    "a DOI in the quoted text, and its paper": (
        page("https://review.example.org/ice", statement=f"The Aletsch glacier lost 12 metres of ice (doi:{DOI})."), NATURE),
    "two videos of a channel": (
        page("https://www.youtube.com/watch?v=abc", author="Alpine Club"), page("https://youtu.be/def", author="Alpine Club")),
}  # fmt: skip
INDEPENDENT = {
    "two owners of repositories": (page("https://github.com/alps/ice"), page("https://github.com/valley/ice")),
    "two groups at GitLab": (page("https://gitlab.com/alps/ice"), page("https://valley.gitlab.io/ice")),
    "two papers at arXiv": (page("https://arxiv.org/abs/2305.01234"), page("https://arxiv.org/abs/2401.04321")),
    "two DOIs": (page("https://doi.org/10.1234/alps"), page("https://doi.org/10.5678/valley")),
    "two papers of one journal": (NATURE, page("https://www.nature.com/articles/s41561-021-00777-1")),
    "two papers whose pages state DOIs": (
        paper("https://www.sciencedirect.com/science/article/pii/S0034425723001111", "10.1016/j.rse.2023.111", "", ""),
        paper("https://www.sciencedirect.com/science/article/pii/S0034425723002222", "10.1016/j.rse.2023.222", "", "")),
    "two papers at PubMed": (page("https://pubmed.ncbi.nlm.nih.gov/38123456/"),
    page("https://pubmed.ncbi.nlm.nih.gov/37111111/")),
    "two papers at PMC": (
        page("https://pmc.ncbi.nlm.nih.gov/articles/PMC10012345/"),
        page("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC9000001/")),
    "two blogs at Medium": (page("https://medium.com/@alps/ice"), page("https://valley.medium.com/ice")),
    "two newsletters": (page("https://alps.substack.com/p/ice"), page("https://valley.substack.com/p/ice")),
    "two blogs at WordPress": (page("https://alps.wordpress.com/ice"), page("https://valley.wordpress.com/ice")),
    "two records at Zenodo": (
        page("https://zenodo.org/records/1111111", author="Solberg, Ingrid"),
        page("https://zenodo.org/records/2222222", author="Doe, Jane")),
    "two channels": (
        page("https://www.youtube.com/watch?v=abc", author="Alpine Club"),
        page("https://www.youtube.com/watch?v=def", author="Valley TV")),
    "two pages in one archive": (
        page("https://web.archive.org/web/2020/https://alps.example.org/ice"),
        page("https://web.archive.org/web/2021/https://valley.example.net/ice")),
    "two pages of one translator": (
        page("https://alps-example-org.translate.goog/ice"), page("https://valley-example-net.translate.goog/ice")),
    "studies of two authors in one journal": (
        news("alpine.example.org", STUDY.format(year=2024)),
        news("valley.example.net", LETTER.format(name="Keller"))),
    "two studies of one author": (
        news("alpine.example.org", STUDY.format(year=2019)),
        news("valley.example.net", LETTER.format(name="Solberg"))),
    "two articles that name a study, and one tells what it has measured itself": (
        news("alpine.example.org",
        f"A new study (doi:{DOI}) tells of ice.", statement=f"Our own survey agrees. {ICE[:-1]}, we measured."),
        news("valley.example.net", f"A new study (doi:{DOI}) tells of ice.")),
    "two papers that cite a third": (
        paper("https://www.nature.com/articles/s41561-020-00001-1", "10.1038/s41561-020-00001-1", "", "",
              behind=(f"1. Solberg, I. et al. {TITLE}. https://doi.org/{DOI}",)),
        paper("https://www.science.org/doi/10.1126/science.abc1234", "10.1126/science.abc1234", "", "",
              behind=(f"1. Solberg, I. et al. {TITLE}. https://doi.org/{DOI}",))),
    "two papers of one title by different authors": (
        paper("https://doi.org/10.1234/alps", "10.1234/alps", TITLE, "Jane Doe"),
        paper("https://arxiv.org/abs/2401.04321", "", TITLE, "Ingrid Solberg")),
    "two sites with one banner": tuple(
        PageOfWeb(f"https://{host}/ice", (words(host, 15), ICE, words(f"{host} b", 15), BANNER))
        for host in ("alpine.example.org", "valley.example.net")),
}  # fmt: skip


async def count_origins(pool: Pool, embedder: Embedder, *pages: PageOfWeb) -> int:
    """How many independent origins a statement has that is stored from these pages."""
    async with serving() as site:
        for item in pages:
            async with Store(Session(pool), embedder) as store:
                fact_id = await store_from(store, site, item, ICE[:-1], subject_id="ice")
    counts = await Confidences(Session(pool)).origin_counts([fact_id])
    return counts[fact_id]


@pytest.fixture(autouse=True)
def on_loopback(setting: Callable[[str, str], None]) -> None:
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")


@pytest.mark.parametrize("pair", DEPENDENT.values(), ids=DEPENDENT)
async def test_sources_of_one_work_or_publisher_count_once(
    pool: Pool, embedder: Embedder, pair: tuple[PageOfWeb, PageOfWeb]
) -> None:
    assert await count_origins(pool, embedder, *pair) == 1


@pytest.mark.parametrize("pair", INDEPENDENT.values(), ids=INDEPENDENT)
async def test_independent_sources_count_twice(
    pool: Pool, embedder: Embedder, pair: tuple[PageOfWeb, PageOfWeb]
) -> None:
    assert await count_origins(pool, embedder, *pair) == 2
