"""PDFs of one page or several, made of the operators that draw them."""

from support.hostile_documents import pdf_of

HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
BOLD = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>"
FIRST = 5  # the number of the first further object


def pdf_file(
    *pages: str,
    font: bytes = HELVETICA,
    annotations: str = "",
    catalogue: str = "",
    objects: tuple[bytes, ...] = (),
) -> bytes:
    """A PDF with a page for each content; F1 is the font and F2 is bold.

    Args:
        annotations: The references that the first page has in /Annots.
        catalogue: Further entries of the catalogue.
        objects: Further objects, the first of which has the number 5.
    """
    streams = [content.encode("cp1252") for content in pages]
    first_page = FIRST + len(objects)
    numbers = [first_page + 2 * place for place in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    parts = list[bytes]()
    for place, (number, stream) in enumerate(zip(numbers, streams, strict=True)):
        notes = f"/Annots[{annotations}]" if annotations and not place else ""
        parts.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {number + 1} 0 R{notes}"
            "/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>".encode()
        )
        parts.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
    return pdf_of(
        f"<</Type/Catalog/Pages 2 0 R{catalogue}>>".encode(),
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        font,
        BOLD,
        *objects,
        *parts,
    )


def line(words: str, x: float, y: float, *, size: float = 10, font: str = "F1") -> str:
    """A line of text at a place of the page."""
    literal = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({literal}) Tj ET\n"


def lines(*texts: str, x: float = 60, y: float = 700, step: float = 14, size: float = 10) -> str:
    """Lines one below the other."""
    return "".join(line(text, x, y - step * row, size=size) for row, text in enumerate(texts))


def beside(*columns: tuple[str, ...], xs: tuple[float, ...], y: float = 700, step: float = 14) -> str:
    """Columns whose rows are drawn one after the other, from left to right."""
    return "".join(
        line(column[row], x, y - step * row)
        for row in range(max(map(len, columns)))
        for column, x in zip(columns, xs, strict=True)
        if row < len(column)
    )
