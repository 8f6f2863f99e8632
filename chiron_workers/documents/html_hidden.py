"""What no reader of a page sees, taken out of its tree: hidden elements, and text that its own style makes unseen."""

import re
from typing import Any

from chiron_workers.documents.omissions import Mark, Omissions

WORDS_TAG = "written-words"  # It goes with all others of its name at once, which is quicker than one by one.
NOT_DISPLAYED = re.compile(r"(?:^|;)\s*display\s*:\s*none", re.IGNORECASE)
INVISIBLE = re.compile(r"(?:^|;)\s*visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
VISIBLE = re.compile(r"(?:^|;)\s*visibility\s*:\s*visible", re.IGNORECASE)
SIZELESS = re.compile(
    r"(?:^|;)\s*font-size\s*:\s*(?:0+(?:\.0*)?|\.0+)(?:[a-z]{1,4}|%)?\s*(?:!|;|$)", re.IGNORECASE
)
# Sizes that do not count in those around them, which are nought.
TEXT_SIZE = re.compile(
    r"(?:^|;)\s*font-size\s*:\s*(?:0*\.?0*[1-9][\d.]*\s*(?:px|pt|pc|in|cm|mm|q|rem|v[wh])|x{0,3}-?(?:small|large)|medium)",
    re.IGNORECASE,
)
SIGNS = re.compile(r"[\W_\ue000-\uf8ff]*")  # Icons are letters of private use.
# Those that change what a number says; arrows, bullets and crosses are decoration.
MEANING_SIGN = re.compile(r"[<>≤≥≦≧≪≫≠≈≃≅~∼±∓+−=÷√∞∑∫%‰°$€£¥]")
READ_ALOUD = re.compile(
    r"\b(?:sr-only|visually-?hidden|screen-reader|screenreader|a11y|assistive)", re.IGNORECASE
)
ROOTS = ("html", "body")  # Scripts show these once a page is loaded.


def take_out_hidden(tree: Any, omissions: Omissions) -> None:
    """Take out what is marked as hidden or not displayed, templates and closed dialogs, and blank what is unseen.

    A sign that is hidden from screen readers alone is seen by others: between words it leaves a mark.
    """
    for element in tree.xpath("//template | //datalist | //dialog[not(@open)] | //*[@hidden] | //*[@style]"):
        if element.tag in ROOTS:
            continue
        is_marked = element.get("hidden", "until-found").lower() != "until-found"
        is_closed = element.tag in ("template", "datalist", "dialog") and element.get("open") is None
        if is_marked or is_closed or NOT_DISPLAYED.search(element.get("style", "")):
            replace_element(element, "")
    for element in tree.xpath("//*[@aria-hidden='true']"):
        if element.tag not in ROOTS and SIGNS.fullmatch(signs := "".join(element.itertext())):
            if MEANING_SIGN.search(signs) and _is_between_words(element):
                replace_element(element, omissions.mark(Mark.SIGN))
            else:
                _blank(element, None, "")
    for style, exception, gap in ((INVISIBLE, VISIBLE, " "), (SIZELESS, TEXT_SIZE, "")):
        _blank_unseen(tree, style, exception, gap)


def replace_element(element: Any, words: str) -> None:
    """Put words in the place of all that is in an element; its tag goes with all others at once."""
    for child in list(element):
        element.remove(child)
    element.attrib.clear()
    element.tag, element.text = WORDS_TAG, words


def words_before(element: Any) -> str:
    """The last of the words right before an element, within its parent."""
    previous, parent = element.getprevious(), element.getparent()
    if previous is None:
        words = parent.text if parent is not None else ""
    else:
        words = previous.tail or (previous.text if previous.tag == WORDS_TAG else "")
    return (words or "")[-20:]


def _is_between_words(element: Any) -> bool:
    """Whether a sign stands in a sentence, and no words beside it say to screen readers what it is."""
    following = element.getnext()
    is_said = any(
        part is not None and READ_ALOUD.search(part.get("class") or "")
        for part in (element.getprevious(), following)
    )
    is_followed = bool((element.tail or "").strip())
    return not is_said and is_followed and bool(words_before(element).strip())


def _blank_unseen(tree: Any, hiding_style: re.Pattern[str], exception: re.Pattern[str], gap: str) -> None:
    blank_elements = set[Any]()
    for element in tree.xpath("//*[@style]"):
        if (
            element.tag not in ROOTS
            and element not in blank_elements
            and hiding_style.search(element.get("style", ""))
        ):
            blank_elements |= _blank(element, exception, gap)
            # What is seen in it is not to be taken for hidden by others.
            element.attrib.pop("style", None)


def _blank(top: Any, exception: re.Pattern[str] | None, gap: str) -> set[Any]:
    """Take out the words and pictures of an element, but not those of elements in it that are seen; all that were blanked."""
    elements, blank_elements = [top], set[Any]()
    while elements:
        element = elements.pop()
        blank_elements.add(element)
        if isinstance(element.tag, str):
            element.text = gap if element.text else None
        element.attrib.pop("alt", None)
        for child in element:
            child.tail = gap if child.tail else None
            if exception is None or not exception.search(child.get("style") or ""):
                elements.append(child)
    return blank_elements
