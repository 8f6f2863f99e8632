import pytest

from chiron_workers.sources.dois import doi_of


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
        ("https://example.org/10.5/x", None),
        ("https://example.org/version-10.1234", None),
        ("corpus://ice/10.1002/job.1787", None),
        ("file:///papers/10.1002/job.1787.pdf", None),
    ],
)
def test_a_doi_is_read_where_an_address_names_it_for_certain(url, doi):
    assert doi_of(url) == doi
