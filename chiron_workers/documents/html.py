import html
import re
from dataclasses import replace
from typing import Any

from chiron_workers.documents.authors import unique_names
from chiron_workers.documents.bylines import page_authors
from chiron_workers.documents.document import Document, compose
from chiron_workers.documents.html_notices import Notice, keep_notices, with_notices
from chiron_workers.documents.html_omissions import PageWords, list_lost, page_words
from chiron_workers.documents.html_page import page_blocks
from chiron_workers.documents.html_posts import write_speakers
from chiron_workers.documents.html_tree import rewrite
from chiron_workers.documents.licences import licence_name, licence_of_html
from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.page_metadata import PageMetadata, read_metadata
from chiron_workers.documents.plain import read_plain
from chiron_workers.documents.publication_dates import page_date, stated_date
from chiron_workers.documents.spacing import unmark_gaps

# Only dates in the page's metadata: a search through its text finds the dates of other things.
DATES = {"original_date": True, "extensive_search": False}
TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,300})", re.IGNORECASE)


def read_html(text: str, *, url: str = "", name: str = "") -> Document:
    """The main text of a page, without navigation and advertisements; all text where no main text is found."""
    import trafilatura

    tree = trafilatura.load_html(text)
    licence = "" if tree is None else licence_of_html(tree)
    metadata = PageMetadata() if tree is None else read_metadata(tree)
    omissions, words, notices = Omissions(), PageWords([], {}), list[Notice]()
    authors = () if tree is None else page_authors(tree)
    published_at = None if tree is None else stated_date(tree)
    if tree is not None:
        omissions = rewrite(tree, text)
        words = page_words(tree)
        write_speakers(tree)
        notices = keep_notices(tree)
    page: Any = trafilatura.bare_extraction(
        text if tree is None else tree,
        url=url or None,
        with_metadata=True,
        favor_recall=True,
        output_format="txt",  # as Python it would write the text too, which nobody reads
        include_comments=False,
        include_formatting=True,
        date_extraction_params=DATES,
    )
    if page is None:
        document = _without_main_text(tree, text, name=name)
        list_lost(words, document.title, document.text, omissions)
        return replace(
            document,
            authors=authors,
            published_at=published_at,
            doi=metadata.doi,
            stated_kind=metadata.kind,
            left_out=omissions.all(),
        )
    blocks = with_notices(page_blocks(tree, page.body), notices)
    document = compose(blocks, title=page.title or "", name=name)
    list_lost(words, document.title, document.text, omissions)
    return replace(
        document,
        authors=authors or unique_names((page.author or "").split(";")),
        published_at=published_at or page_date(page.date, text),
        licence=licence or licence_name(page.license),
        doi=metadata.doi,
        stated_kind=metadata.kind,
        left_out=omissions.all(),
    )


def _without_main_text(tree: Any | None, text: str, *, name: str) -> Document:
    match = TITLE.search(text)
    title = html.unescape(match[1]) if match else ""
    document = compose([] if tree is None else page_blocks(tree, None), title=title, name=name)
    return document if document.blocks else read_plain(_all_text(text), title=title, name=name)


def _all_text(text: str) -> str:
    import trafilatura

    tree = trafilatura.load_html(f"<html><body>{text}</body></html>")
    if tree is None:
        return ""
    rewrite(tree, text)
    return unmark_gaps(trafilatura.html2txt(tree))
