"""Texts of strangers in Markdown: escaped, they become no markup."""

import re

from chiron_api.reports.phrasing import one_line

# Also what only Obsidian reads: tags begin with #, comments with %%, highlights with ==.
MARKUP = re.compile(r"([\\`*_\[\]<>|~&$^#]|%(?=%)|(?<=%)%|=(?==)|(?<==)=)")
# Each letter that MARKUP may find, looked for in a fraction of its time.
LETTERS = re.compile(r"[\\`*_\[\]<>|~&$^#%=]")
# What begins a block where a line begins: lists, quotes, rules.
OPENING = re.compile(r"^([-+=>:](?=[\s\-=:]|$)|\d+(?=[.)]))")
BLOCK_LETTERS = frozenset("-+=>:")


def escape(text: str) -> str:
    """A text as one line of Markdown that shows exactly these words."""
    line = one_line(text)
    if LETTERS.search(line):
        line = MARKUP.sub(r"\\\1", line)
    if not (line[:1] in BLOCK_LETTERS or line[:1].isdigit()):  # most lines: nothing more to look for
        return line
    # A digit cannot be escaped, so what follows the number is.
    return re.sub(
        r"^(\d+)([.)])",
        r"\1\\\2",
        OPENING.sub(lambda match: match[0] if match[0].isdigit() else f"\\{match[0]}", line),
    )
