"""Who says so on a page of many writers: a line with name and score stands above each post."""

import pytest

from chiron_workers.documents.html import read_html
from chiron_workers.evidence.quotes.reading_window import reading_window

CLAIM = "Zolvan cures colds in one day, believe me and ask all those who have had it."
REPLY = "It does not, see the trial of 2019 in which it was as good as sugar."
RULES = "<p>" + "This is a board for all who like to talk about drugs and their effects. " * 4 + "</p>"


def thread(post: str) -> str:
    first, second = post.format("crank42", -17, CLAIM), post.format("doc", 250, REPLY)
    return read_html(
        f"<html><head><title>A board</title></head><body><h1>Colds</h1><div>{first}{second}{RULES}</div></body></html>"
    ).text


@pytest.mark.parametrize(
    "post",
    [
        "<div class='post'><div class='author'>{}</div><div class='score'>{} points</div><p>{}</p></div>",
        "<div class='message'><header><a class='user' href='/u'>{}</a> <b class='points'>{}</b></header><p>{}</p></div>",
        "<board-comment author='{}' score='{}'><div><p>{}</p></div></board-comment>",
        "<div class='answer'><div class='vote-count'>{1}</div><p>{2}</p><div class='user-info'><a>{0}</a></div></div>",
        "<div class='post'><div class='post-body'><p class='author'>by <b>{}</b></p><i class='karma'>{}</i><p>{}</p></div></div>",
        "<div itemtype='http://schema.org/Comment'><b itemprop='author'>{}</b><i itemprop='upvoteCount'>{}</i><p>{}</p></div>",
    ],
)
def test_a_post_has_the_name_and_the_score_of_its_writer_above_it(post: str) -> None:
    text = thread(post)
    assert text.index("Post by crank42, score -17") < text.index(CLAIM) < text.index("Post by doc, score 250")
    start = text.index(CLAIM)
    window = reading_window(text, start, start + len(CLAIM)).text_of(text)
    assert "Post by crank42" in window
    assert REPLY in window


def test_a_page_of_one_writer_stays_as_it_is() -> None:
    page = f"<body><div class='post'><h1>Colds</h1><p class='author'>by Ann Lee</p><p>{CLAIM}</p>{RULES * 2}</div></body>"
    assert "Post by" not in read_html(page).text
