"""The words of a paragraph of Markdown, with what its inline marks and inline HTML mean."""

import re

from markdown_it.token import Token

from chiron_workers.documents.scripts import image_text, lower_words, raise_words

BREAKS = {"softbreak": " ", "hardbreak": "\n"}
INLINE_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z][\w-]*)")
ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
GAP = re.compile(r" {2,}")
DELETION_TAGS = {"del", "s", "strike"}
SCRIPTS = {"sup", "sub"}
# Pandoc's marks: 10^5^, H~2~O. A tilde before a number elsewhere says `about`.
SUPERSCRIPT = re.compile(r"\^(?=\S)((?:[^\s^\[\]\\]|\\ ){1,40})\^")
SUBSCRIPT = re.compile(r"(?<=[\w)\]])~(?=[^\s~])((?:[^\s~\\]|\\ ){1,40})~(?!~)")


def inline_words(tokens: list[Token]) -> str:
    """The text of inline tokens: deleted text left out, raised and lowered text written out, images by their texts."""
    writer = _Writer()
    for token in tokens:
        match token.type:
            case "s_open":
                writer.open("del")
            case "s_close":
                writer.close("del")
            case "html_inline":
                writer.tag(token.content)
            case "image":
                writer.write(image_text(inline_words(token.children or []) or token.content))
            case "text":
                writer.write(_scripts_written(token.content, writer.before()))
            case _:
                writer.write(BREAKS.get(token.type, token.content))
    return writer.words()


def _scripts_written(text: str, before: str) -> str:
    def raised(match: re.Match[str]) -> str:
        return raise_words(match[1].replace("\\ ", " "), before=before + text[: match.start()])

    text = SUPERSCRIPT.sub(raised, text) if "^" in text else text
    return (
        SUBSCRIPT.sub(lambda match: lower_words(match[1].replace("\\ ", " ")), text) if "~" in text else text
    )


class _Writer:
    """Words, and the open elements that they stand in: each has the words so far, and its name."""

    def __init__(self) -> None:
        self._stack: list[tuple[str, list[str]]] = [("", [])]
        self._has_deletions = False

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
        if name == "br":
            self.write("\n")
        elif name == "img":
            alt = ALT.search(source)
            self.write(image_text(alt[1] or alt[2] or "") if alt else "")
        elif name in DELETION_TAGS | SCRIPTS | {"q"}:
            if match[1]:
                self.close("del" if name in DELETION_TAGS else name)
            else:
                self.open("del" if name in DELETION_TAGS else name)

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
            case "sup":
                self.write(raise_words(words, before=before))
            case "sub":
                self.write(lower_words(words))
            case "q":
                self.write(f"“{words}”")

    def words(self) -> str:
        """All words; what was opened and never closed stands as it is."""
        words = "".join("".join(parts) for _, parts in self._stack)
        return GAP.sub(" ", words) if self._has_deletions else words
