"""Formulas in MathML as one line of text: 10⁵, x_i, (a + b)/2."""

from typing import Any

from chiron_workers.documents.scripts import lower_words, raise_words

SILENT_TAGS = {"annotation", "annotation-xml", "mphantom"}
INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
DEPTH_MAX = 100


def math_text(element: Any, depth: int = 0) -> str:
    """A formula on one line."""
    name = _name(element)
    if name in SILENT_TAGS or depth > DEPTH_MAX:
        return ""
    children = [child for child in element if isinstance(child.tag, str)]
    if name == "mtable":
        return "; ".join(", ".join(math_text(cell, depth + 2) for cell in row) for row in children)
    parts = [math_text(child, depth + 1) for child in children]
    if layout := _layout(name, parts):
        return layout
    words = (element.text or "").translate(INVISIBLE).strip()
    if name == "mfenced":
        return f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}"
    return words + "".join(part + _tail(child) for part, child in zip(parts, children, strict=True))


def _layout(name: str, parts: list[str]) -> str:
    match name, parts:
        case "msup" | "mover", [base, raised]:
            return _base(base) + raise_words(raised)
        case "msub" | "munder", [base, lowered]:
            return _base(base) + lower_words(lowered)
        case "msubsup" | "munderover", [base, lowered, raised]:
            return _base(base) + lower_words(lowered) + raise_words(raised)
        case "mfrac", [over, under]:
            return f"{_grouped(over)}/{_grouped(under)}"
        case "msqrt", [*_]:
            return f"√{_grouped(''.join(parts))}"
        case "mroot", [base, degree]:
            return f"{raise_words(degree)}√{_grouped(base)}"
    return ""


def _base(words: str) -> str:
    return (
        words
        if len(words) <= 1 or words.replace(".", "").isalnum() or words.endswith((")", "]"))
        else f"({words})"
    )


def _grouped(words: str) -> str:
    return words if words.replace(".", "").isalnum() else f"({words})"


def _name(element: Any) -> str:
    tag = element.tag if isinstance(element.tag, str) else "annotation"
    return tag.rpartition("}")[2].rpartition(":")[2]


def _tail(element: Any) -> str:
    return (element.tail or "").strip()
