"""The words of a paragraph of Markdown, with what its inline marks and inline HTML mean."""

import re

from markdown_it.token import Token

from chiron_workers.documents.html_elements import BESIDE, ELEMENTS, MARKS, SILENT, STRUCK, UNKNOWN
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.scripts import image_text, lower_words, raise_words

BREAKS = {"softbreak": " ", "hardbreak": "\n"}
INLINE_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z][\w-]*)")
ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
GAP = re.compile(r" {2,}")
TAG = re.compile(r"<([A-Za-z][\w-]{0,30})(?:\s[^<>]{0,2000})?>")
LINE_THROUGH = re.compile(r"\bstyle\s*=[^>]{0,500}line-through", re.IGNORECASE)
HIDING = re.compile(
    r"\shidden(?=[\s>/]|$)|\shidden\s*=\s*[\"']?(?:hidden|true)?[\"'\s>]"
    r"|\bstyle\s*=[^>]{0,500}(?:display\s*:\s*none|visibility\s*:\s*hidden)",
    re.IGNORECASE,
)
HIDDEN = "hidden passage"
DELETION_TAGS = {"del", "s", "strike"}
RUBY = {"rt", "rtc"}
SCRIPTS = {"sup", "sub"}
# Pandoc's marks: 10^5^, H~2~O. A tilde before a number elsewhere says `about`.
SUPERSCRIPT = re.compile(r"\^(?=\S)((?:[^\s^\[\]\\]|\\ ){1,40})\^")
SUBSCRIPT = re.compile(r"(?<=[\w)\]])~(?=[^\s~])((?:[^\s~\\]|\\ ){1,40})~(?!~)")


def hiding_kind(tag: str, name: str) -> str:
    """As what an element's words are listed that it strikes out or hides; empty where it shows them."""
    if name in STRUCK or LINE_THROUGH.search(tag):
        return STRUCK["del"]
    return HIDDEN if HIDING.search(tag) else ""


def hiding_tag(source: str) -> tuple[int, str, str] | None:
    """Where a piece of HTML begins an element that strikes out or hides what stands behind the piece, its name, and the kind."""
    for tag in TAG.finditer(source):
        name = tag[1].lower()
        if kind := hiding_kind(tag[0], name):
            starts = len(re.findall(rf"<{name}\b", source[tag.start() :], re.IGNORECASE))
            ends = len(re.findall(rf"</{name}\b", source[tag.start() :], re.IGNORECASE))
            if starts > ends:
                return tag.start(), name, kind
    return None


def inline_words(tokens: list[Token], omissions: Omissions) -> str:
    """The text of inline tokens: deleted text left out, raised and lowered text written out, images by their texts.

    What has no words leaves a mark, and is added to `omissions`.
    """
    writer = _Writer(omissions, _closed_elements(tokens))
    for token in tokens:
        match token.type:
            case "s_open":
                writer.open("del")
            case "s_close":
                writer.close("del")
            case "html_inline":
                writer.tag(token.content)
            case "image":
                words = image_text(inline_words(token.children or [], omissions) or token.content)
                writer.write(
                    words or omissions.mark(Mark.PICTURE, place=_file(str(token.attrGet("src") or "")))
                )
            case "text":
                writer.write(_scripts_written(token.content, writer.before()))
            case _:
                writer.write(BREAKS.get(token.type, token.content))
    return writer.words()


def _closed_elements(tokens: list[Token]) -> set[str]:
    tags = (INLINE_TAG.match(token.content) for token in tokens if token.type == "html_inline")
    return {tag[2].lower() for tag in tags if tag and tag[1]}


def _file(address: str) -> str:
    return address.partition("?")[0].rpartition("/")[2]


def _scripts_written(text: str, before: str) -> str:
    def raised(match: re.Match[str]) -> str:
        return raise_words(match[1].replace("\\ ", " "), before=before + text[: match.start()])

    text = SUPERSCRIPT.sub(raised, text) if "^" in text else text
    return (
        SUBSCRIPT.sub(lambda match: lower_words(match[1].replace("\\ ", " ")), text) if "~" in text else text
    )


class _Writer:
    """Words, and the open elements that they stand in: each has the words so far, and its name."""

    def __init__(self, omissions: Omissions, closed_elements: set[str]) -> None:
        self._omissions = omissions
        self._closed_elements = closed_elements
        self._stack: list[tuple[str, list[str]]] = [("", [])]
        self._has_deletions = False
        self._hidden: list[
            tuple[str, int]
        ] = []  # the open elements that are not shown, and those of their name in them

    def write(self, words: str) -> None:
        self._stack[-1][1].append(words)

    def before(self) -> str:
        return "".join(self._stack[-1][1])[-20:] or (
            "".join(self._stack[-2][1])[-20:] if self._stack[1:] else ""
        )

    def tag(self, source: str) -> None:
        match = INLINE_TAG.match(source)
        if match is None:
            return
        name = match[2].lower()
        if self._hides(source, name, is_end=bool(match[1])):
            return
        if name == "br":
            self.write("\n")
        elif name == "img":
            alt = ALT.search(source)
            words = image_text(alt[1] or alt[2] or "") if alt else ""
            self.write(words or self._omissions.mark(Mark.PICTURE, place="<img>"))
        elif name in DELETION_TAGS | SCRIPTS | {"q"}:
            if match[1]:
                self.close("del" if name in DELETION_TAGS else name)
            else:
                self.open("del" if name in DELETION_TAGS else name)
        elif name in MARKS:
            self._mark(name, is_end=bool(match[1]))
        elif name not in ELEMENTS:
            self._part(name, is_end=bool(match[1]))

    def _hides(self, source: str, name: str, *, is_end: bool) -> bool:
        """Open or close an element whose words are not shown; whether it is one."""
        is_within = any(open_name == name for open_name, _ in self._hidden)
        if is_end and is_within:
            self._depth_of_hidden(name, -1)
            return True
        if is_end or name not in self._closed_elements:
            return False
        kind = hiding_kind(source, name) if name not in DELETION_TAGS else ""
        kind = BESIDE["rt"] if name in RUBY else kind
        if kind or name in SILENT:
            self._hidden.append((name, 0))
            self._stack.append((HIDDEN, []))
            if kind:
                self._omissions.add(kind)
            return True
        if is_within:
            self._depth_of_hidden(name, 1)
        return is_within

    def _depth_of_hidden(self, name: str, step: int) -> None:
        """Count the elements of the same name in the innermost hidden one; without any it ends."""
        hidden_name, depth = self._hidden[-1]
        if hidden_name != name:
            return
        if depth + step >= 0:
            self._hidden[-1] = (name, depth + step)
            return
        self._hidden.pop()
        while self._stack.pop()[0] != HIDDEN:
            pass
        self._has_deletions = True

    def _mark(self, name: str, *, is_end: bool) -> None:
        """Put a mark in the place of an element; what is in it is shown only where it cannot be."""
        if is_end:
            self.close(name)
            return
        self.write(self._omissions.mark(MARKS[name], place=f"<{name}>"))
        if name in self._closed_elements:
            self.open(name)

    def _part(self, name: str, *, is_end: bool) -> None:
        """Set the words of an unknown element apart; without an end it has none."""
        if is_end:
            self.write(" ")
        elif name in self._closed_elements:
            self._omissions.add(UNKNOWN, place=f"<{name}>")
            self.write(" ")
        else:
            self.write(self._omissions.mark(Mark.UNKNOWN, place=f"<{name}>"))

    def open(self, name: str) -> None:
        self._stack.append((name, []))

    def close(self, name: str) -> None:
        """Close the innermost element, if that is its name: a stray end tag closes nothing."""
        if self._stack[-1][0] != name:
            return
        _, parts = self._stack.pop()
        words = "".join(parts)
        before = "".join(self._stack[-1][1][-1:])
        match name:
            case "del":
                self._has_deletions = True
                self._omissions.add(STRUCK["del"])
            case "sup":
                self.write(raise_words(words, before=before))
            case "sub":
                self.write(lower_words(words))
            case "q":
                self.write(f"“{words}”")

    def words(self) -> str:
        """All words; what was starts and never closed stands as it is."""
        words = "".join("".join(parts) for _, parts in self._stack)
        return GAP.sub(" ", words) if self._has_deletions else words
