"""Tables of an HTML page: on narrow screens each row is a card, and the roles outlive that."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, figures: Collection[int] = (), kind: str = ""
) -> Iterator[str]:
    """A table whose cells are markup.

    Args:
        figures: The places of the columns that are set to the end of their cells.
    """

    def look(place: int) -> str:
        return ' class="figure"' if place in figures else ""

    names = [escape(name) for name in columns]
    heads = "".join(
        f'<th scope="col" role="columnheader"{look(n)}>{name}</th>' for n, name in enumerate(names)
    )
    look_of_all = f' class="{kind}"' if kind else ""
    yield (
        f'<table{look_of_all} role="table">\n<thead role="rowgroup"><tr role="row">{heads}</tr></thead>\n'
        '<tbody role="rowgroup">\n'
    )
    for row in rows:
        cells = (
            f'<td role="cell" data-name="{name}"{look(n)}>{cell}</td>'
            for n, (name, cell) in enumerate(zip(names, row, strict=True))
        )
        yield f'<tr role="row">{"".join(cells)}</tr>\n'
    yield "</tbody>\n</table>\n"
