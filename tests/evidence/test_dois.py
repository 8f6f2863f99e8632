import pytest

from chiron_workers.evidence.dois import doi_in, doi_of, doi_of_source


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://doi.org/10.1038/nature12373", "10.1038/nature12373"),
        ("https://dx.doi.org/10.1016/S0140-6736(97)11096-0", "10.1016/s0140-6736(97)11096-0"),
        ("https://link.springer.com/article/10.1007/s00134-020-06294-x", "10.1007/s00134-020-06294-x"),
        (
            "https://link.springer.com/content/pdf/10.1007/s00134-020-06294-x.pdf",
            "10.1007/s00134-020-06294-x",
        ),
        ("https://onlinelibrary.wiley.com/doi/full/10.1002/job.1787", "10.1002/job.1787"),
        ("https://onlinelibrary.wiley.com/doi/10.1002/job.1787/abstract", "10.1002/job.1787"),
        (
            "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0012345",
            "10.1371/journal.pone.0012345",
        ),
        ("https://www.biorxiv.org/content/10.1101/2020.01.30.927871v2.full.pdf", "10.1101/2020.01.30.927871"),
        ("https://www.frontiersin.org/articles/10.3389/fpsyg.2019.01234/full", "10.3389/fpsyg.2019.01234"),
        ("https://arxiv.org/abs/2301.01234v2", "10.48550/arxiv.2301.01234"),
        ("https://www.nature.com/articles/s41586-020-2649-2", "10.1038/s41586-020-2649-2"),
        ("https://example.org/?doi=10.1002%2Fjob.1787", "10.1002/job.1787"),
        ("https://AR\nXIV.org/abs/2301.01234", "10.48550/arxiv.2301.01234"),
        ("https://www.Nature.com/articles/s41586-020-2649-2", "10.1038/s41586-020-2649-2"),
        ("https://zenodo.org/records/4711", "10.5281/zenodo.4711"),
        ("https://example.org/1%30.1002/job.1787", "10.1002/job.1787"),
        ("https://example.org/10.5/x", None),
        ("https://example.org/version-10.1234", None),
        ("corpus://ice/10.1002/job.1787", None),
        ("file:///papers/10.1002/job.1787.pdf", None),
    ],
)
def test_a_doi_is_read_where_an_address_names_it_for_certain(url, doi):
    assert doi_of(url) == doi


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://dx.doi.org/10.1002/(SICI)1097-0258(19980815)17:15%3C1661::AID-SIM968%3E3.0.CO;2-2",
         "10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2"),
        ("https://onlinelibrary.wiley.com/doi/10.1002/(SICI)1096-8644(199601)99:1%3C1::AID-AJPA1%3E3.0.CO;2-1/abstract",
         "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1"),
        ("https://x.org/doi/10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1;jsessionid=A1.f01",
         "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1"),
        ("https://ascelibrary.org/doi/10.1061/(ASCE)1084-0702(2005)10:1(3)", "10.1061/(ASCE)1084-0702(2005)10:1(3)"),
        ("https://www.biorxiv.org/content/10.1101/2020.11.02.364969v2", "10.1101/2020.11.02.364969"),
        ("https://www.biorxiv.org/content/10.1101/2020.11.02.364969v2.full.pdf+html", "10.1101/2020.11.02.364969"),
        ("https://www.medrxiv.org/content/10.1101/2021.02.10.21251248v1.supplementary-material",
         "10.1101/2021.02.10.21251248"),
        ("https://www.researchsquare.com/article/10.21203/rs.3.rs-12/v1", "10.21203/rs.3.rs-12/v1"),
        ("https://onlinelibrary.wiley.com/doi/10.1111/j.1365-2966.2005.09239.x/references",
         "10.1111/j.1365-2966.2005.09239.x"),
        ("https://academic.oup.com/a/article/doi/10.1093/analys/anw054/2632107", "10.1093/analys/anw054"),
        ("https://rupress.org/jcb/article/doi/10.1083/jcb.202001001/211745/A-title", "10.1083/jcb.202001001"),
        ("https://karger.com/res/article-pdf/doi/10.1159/000501234/123456/000501234.pdf", "10.1159/000501234"),
        ("https://academic.oup.com/nar/article/doi/10.1093/nar/29.1.137/1116/gke137", "10.1093/nar/29.1.137"),
        ("https://academic.oup.com/nar/article/doi/10.1093/nar/29.1.137", "10.1093/nar/29.1.137"),
        ("https://www.biorxiv.org/content/10.1101/2020.01.01.123456v2/DC1/embed/media-1.pdf",
         "10.1101/2020.01.01.123456"),
        ("https://zenodo.org/badge/DOI/10.5281/zenodo.1234.svg", "10.5281/zenodo.1234"),
        ("https://www.nature.com/articles/171737a0", "10.1038/171737a0"),
        ("https://www.nature.com/articles/35057062", "10.1038/35057062"),
        ("https://www.science.org/doi/suppl/10.1126/science.abc1/suppl_file/abc1_sm.pdf", "10.1126/science.abc1"),
        ("https://iopscience.iop.org/article/10.3847/2041-8213/ab0ec8/meta", "10.3847/2041-8213/ab0ec8"),
        ("https://journals.plos.org/plosone/article/file?id=10.1371/journal.pone.1&type=printable",
         "10.1371/journal.pone.1"),
        ("https://x.org/a?id=info%3Adoi%2F10.1371%2Fjournal.pone.1", "10.1371/journal.pone.1"),
        ("https://x.org/doi%252F10.1002%252Fjob.1", "10.1002/job.1"),
        ("https://arxiv.org/abs/hep-th/9901001v3", "10.48550/arXiv.hep-th/9901001"),
        ("https://arxiv.org/pdf/2103.00020v2.pdf", "10.48550/arXiv.2103.00020"),
        ("https://zenodo.org/records/123/files/a.csv", "10.5281/zenodo.123"),
        ("https://www.nature.com/articles/s41586-020-2649-3/figures/1", "10.1038/s41586-020-2649-3"),
        ("https://notarxiv.org/abs/2301.01234", ""),
        ("https://x.org/search?q=10.1234/x", ""),
        ("https://x.org/version-10.1234/abc", ""),
        ("file:///10.1234/x", ""),
        ("https://[::1", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_a_doi_of_an_address_is_whole_and_without_what_publishers_put_behind_it(url, doi):
    assert doi_of_source(url, "") == doi
    assert (doi_of(url) or "") == doi.lower()


def test_a_source_has_the_doi_that_it_states_before_that_of_its_address():
    address = "https://x.org/doi/10.1000/cited"
    assert doi_of_source(address, "doi:10.1000/Own.") == "10.1000/Own"
    assert doi_of_source(address, "https://doi.org/10.1000/Own") == "10.1000/Own"
    assert doi_of_source(address, "ISBN 1") == "10.1000/cited"
    sici = "10.1002/(SICI)1096-8644(199612)101:4<435::AID-AJPA1>3.0.CO;2-X"
    assert doi_of_source(address, sici.replace("<", "&lt;").replace(">", "&gt;")) == sici
    assert doi_in("(see doi:10.1000/OWN)") == "10.1000/own"


def test_an_address_of_many_views_is_read_at_once():
    # Minutes, where each view was taken off by itself.
    doi = doi_of("https://x.org/10.1000/a" + "/full" * 20_000)
    assert doi is not None
    assert len(doi) < 300
