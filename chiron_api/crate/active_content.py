"""What in a page could run or load something. It is looked for where the page cannot be made again and compared.

Parsers differ in how they read broken markup, and browsers mend it. So this accepts only the HTML of our own pages: each `<`
begins a tag as Chiron writes it, with an element, attributes, links and style rules that our pages have. All else is refused.
"""

import re
from collections.abc import Iterator
from html import unescape

from chiron_api.crate.layout import PAGE
from chiron_api.text import one_line

# A page that names its encoding here is read in no other.
START = '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
PIECE = re.compile(r"<([^<>]*)(>?)([^<]*)")  # a tag and the text behind it
TAG = re.compile(r'/?([a-z][a-z0-9]*)((?: [a-zA-Z0-9-]+="[^"]*")*)')
ATTRIBUTE = re.compile(r' ([a-zA-Z0-9-]+)="([^"]*)"')
ELEMENT = re.compile(
    r"a|article|bdi|blockquote|body|br|dd|div|dl|dt|h[1-4]|head|header|html|li|main|meta|nav|ol|p|section|span|strong|style"
    r"|table|tbody|td|th|thead|title|tr|ul"
    r"|desc|figcaption|figure|g|line|rect|svg|text"  # of charts
)
ATTRIBUTE_NAME = re.compile(
    r"aria-label|class|data-name|dir|id|lang|role|scope"
    r"|aria-labelledby|direction|height|rx|text-anchor|viewBox|width|x|x1|x2|xmlns|y|y1|y2"  # of charts
)
LINK_ATTRIBUTE_NAME = re.compile(r"href|rel")
# As `chiron_api.reports.links` lets them through: pages, and files that are on this machine.
LINK = re.compile(
    r"#[^\x00-\x20\x7f]+|(?:(?i:https?)://|(?i:file):(?:(?!/)|(?://(?:localhost)?)?/(?!/)))[A-Za-z0-9%:/?#\[\]@!$&'()*+,;=._~-]*"
)
METADATA = re.compile(
    r' charset="utf-8"| http-equiv="Content-Security-Policy" content="[^"]*"'
    r'| name="(?:generator|referrer|viewport)" content="[^"]*"'
)
REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|#x27);)[^\s<]{0,20}")  # these five are what escaping writes
# A text of a style sheet, then what in the rest could load something: rules and functions that ours does not have, and signs
# under which they could hide.
STYLE_TEXT = re.compile(r'"[^"\\\n\r\f]*"')
STYLE_FAULT = re.compile(
    r"[\"'\\]|/\*|@(?!(?:media|page)\b)[\w-]*|(?<![\w-])(?!(?:attr|minmax|repeat|var)\()[\w-]+\("
)


def check_page(content: bytes) -> Iterator[str]:
    """The first thing in it that no page of Chiron has."""
    try:
        page = content.decode()
    except UnicodeDecodeError:
        yield f"{PAGE} is not UTF-8."
        return
    fault = _fault(page)
    if fault:
        yield f"{PAGE} {fault}"


def _fault(page: str) -> str:
    if not page.startswith(START):
        return "does not begin as pages of Chiron do."
    if "\0" in page:
        return "has a NUL, which pages of Chiron do not have."
    if reference := REFERENCE.search(page):
        return f"has a character reference that pages of Chiron do not have: {one_line(reference[0])}."
    is_style = has_chart = False
    for match in PIECE.finditer(page, START.index("\n")):
        tag, end, text = match.groups()
        if is_style and tag != "/style":
            return f"has style rules that pages of Chiron do not have: {one_line(f'<{tag}')}."
        is_style = tag == "style"
        has_chart = has_chart or tag.startswith("svg")
        if has_chart and is_style:  # in a chart a browser would read it by other rules
            return "has style rules that pages of Chiron do not have: <style behind a chart."
        fault = _tag_fault(tag, end) or (_style_fault(text) if is_style else "")
        if fault:
            return fault
    return ""


def _tag_fault(tag: str, end: str) -> str:
    match = TAG.fullmatch(tag) if end else None
    if not match:
        return f"has markup that pages of Chiron do not have: {one_line(f'<{tag}{end}')}."
    element, attributes = match.groups()
    if not ELEMENT.fullmatch(element):
        return f"has the element {one_line(element)}, which pages of Chiron do not have."
    if element == "meta":
        is_ours = METADATA.fullmatch(attributes)
        return (
            ""
            if is_ours
            else f"has the element meta with what pages of Chiron do not have: {one_line(attributes)}."
        )
    for name, value in ATTRIBUTE.findall(attributes):
        if not (ATTRIBUTE_NAME.fullmatch(name) or (element == "a" and LINK_ATTRIBUTE_NAME.fullmatch(name))):
            return f"has the attribute {one_line(name)}, which pages of Chiron do not have in the element {element}."
        if name == "href" and not LINK.fullmatch(unescape(value)):
            return f"has a link that pages of Chiron do not have: {one_line(value)}."
    return ""


def _style_fault(style: str) -> str:
    fault = STYLE_FAULT.search(STYLE_TEXT.sub("", style))
    return f"has style rules that pages of Chiron do not have: {one_line(fault[0])}." if fault else ""
