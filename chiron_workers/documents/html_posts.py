"""Who wrote each post of a thread, and its score: a line above the post, as the search for the main text takes both out."""

import re
from typing import Any

from chiron_workers.documents.document import one_line

POSTS_MIN = 2  # of a thread
POSTS_MAX = 2_000
NAME_CHARS_MAX = 80
SCORE_CHARS_MAX = 30
POST = re.compile(
    r"(?<![a-z])(?:post|comment|answer|message|reply|review|tweet|status)(?:[-_]?(?:item|body|wrapper|container|box|cell))?(?![a-z])"
    r"|schema\.org/(?:Comment|Answer|Review|DiscussionForumPosting|SocialMediaPosting)",
    re.IGNORECASE,
)
WRITER = re.compile(
    r"(?<![a-z])(?:author|user|user-?name|nick(?:name)?|poster|handle|user-?(?:details|info|link)|creator)(?![a-z])",
    re.IGNORECASE,
)
SCORE = re.compile(
    r"(?<![a-z])(?:scores?|points|votes?|vote-?count|upvote-?count|karma|rating)(?![a-z])", re.IGNORECASE
)
BY = re.compile(r"(?:by|posted by|von|par|por|от)\s+|\s+(?:wrote|says|said|schrieb)\s*:?$", re.IGNORECASE)
FIGURE = re.compile(r"\d")


def write_speakers(tree: Any) -> None:
    """Put the name and the score of its writer above each post, where a page has several."""
    from lxml import etree  # type: ignore[import-untyped]

    posts = [(post, line) for post in _posts(tree)[:POSTS_MAX] if (line := _line(post))]
    if len(posts) < POSTS_MIN:
        return
    for post, line in posts:
        paragraph = etree.Element("p")
        paragraph.text, paragraph.tail, post.text = line, post.text, None
        post.insert(0, paragraph)


def _posts(tree: Any) -> list[Any]:
    """The posts of a page without those that hold another, or the heading of the page."""
    posts = [element for element in tree.iter() if isinstance(element.tag, str) and _is_post(element)]
    holders = {ancestor for post in posts for ancestor in post.iterancestors()}
    return [post for post in posts if post not in holders and next(post.iter("h1"), None) is None]


def _is_post(element: Any) -> bool:
    names = _names(element)
    is_named = POST.search(names) is not None and element.tag in (
        "div",
        "article",
        "li",
        "section",
        "tr",
        "td",
    )
    return is_named or bool(element.get("author"))


def _names(element: Any) -> str:
    return " ".join(filter(None, map(element.get, ("class", "itemtype", "itemprop", "rel"))))


def _line(post: Any) -> str:
    """`Post by NAME, score SCORE`; empty where the post does not say who wrote it."""
    name = post.get("author") or post.get("data-author") or _words(post, WRITER, NAME_CHARS_MAX)
    score = post.get("score") or post.get("data-score") or _words(post, SCORE, SCORE_CHARS_MAX)
    name = BY.sub("", (name or "").strip())
    return name and one_line(
        f"Post by {name}" + (f", score {score}" if score and FIGURE.search(score) else "")
    )


def _words(post: Any, names: re.Pattern[str], chars_max: int) -> str:
    for element in post.iterdescendants():
        if isinstance(element.tag, str) and names.search(_names(element)):
            words = one_line(" ".join(element.itertext()))
            if 0 < len(words) <= chars_max:
                return words
    return ""
