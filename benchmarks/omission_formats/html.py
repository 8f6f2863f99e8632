"""Pages of HTML: each element where it may stand, in an article of some paragraphs."""

from collections.abc import Sequence
from random import Random

from chiron_workers.documents.document import Document
from chiron_workers.documents.html import read_html
from chiron_workers.documents.html_elements import BESIDE, ELEMENTS, MARKS, OUTSIDE, SILENT, STRUCK

from .trial import Format, Probe

EMPTY = {"br", "hr", "wbr"}  # They say nothing but where they stand.
ROOTS = {"html", "body"}
SENTENCES = (
    "The harbour of Lake Orwena was opened in {year} and has {count} quays for ships of up to 120 m.",
    "A report of the council of {year} names {count} places at which the ice is thinner than in other winters.",
    "Since {year} the ferry has carried {count} passengers a day, which is more than the bridge.",
)
# What an element stands in, where it may not stand in a paragraph or an article.
AROUND = {
    "caption": "<table>{}<tr><td>quay</td></tr></table>",
    "dd": "<dl><dt>Quay</dt>{}</dl>",
    "dt": "<dl>{}<dd>A place for ships.</dd></dl>",
    "figcaption": "<figure>{}</figure>",
    "legend": "<fieldset>{}</fieldset>",
    "li": "<ul>{}</ul>",
    "menuitem": "<menu>{}</menu>",
    "optgroup": "<p>Choose {} here.</p>",
    "rb": "<p>The <ruby>{}</ruby> stands there.</p>",
    "rt": "<p>The <ruby>quay {}</ruby> stands there.</p>",
    "rtc": "<p>The <ruby>quay {}</ruby> stands there.</p>",
    "summary": "<details>{}<p>More of it.</p></details>",
    "tbody": "<table>{}</table>",
    "td": "<table><tr><td>quay</td>{}</tr></table>",
    "tfoot": "<table>{}</table>",
    "th": "<table><tr>{}<th>quay</th></tr></table>",
    "thead": "<table>{}</table>",
    "tr": "<table>{}</table>",
}
INNER = {
    "dl": "<dt>{0}</dt><dd>{0}</dd>",
    "dir": "<li>{0}</li>",
    "hgroup": "<h2>{0}</h2>",
    "math": "<mi>{0}</mi>",
    "menu": "<li>{0}</li>",
    "ol": "<li>{0}</li>",
    "optgroup": "<option>{0}</option>",
    "picture": '<img src="a.png" alt="{0}">',
    "ruby": "<rb>{0}</rb>",
    "table": "<tr><td>{0}</td></tr>",
    "tbody": "<tr><td>{0}</td></tr>",
    "tfoot": "<tr><td>{0}</td></tr>",
    "thead": "<tr><th>{0}</th></tr>",
    "tr": "<td>{0}</td>",
    "ul": "<li>{0}</li>",
}
ATTRIBUTES = {"dialog": " open", "img": ' src="a.png"', "iframe": ' src="a.html"', "option": " selected"}
BLOCKS = {
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "listing", "main", "menu",
    "multicol", "nav", "ol", "p", "plaintext", "portal", "pre", "search", "section", "table", "ul", "xmp",
}  # fmt: skip


def build(probes: Sequence[Probe], chance: Random) -> bytes:
    """A page with each probe in a place of its own, among sentences."""
    parts = [f"<p>{_sentence(chance)}</p>" for _ in range(3)]
    for probe in sorted(probes, key=lambda probe: probe.element == "plaintext"):  # it has no end
        parts += [_placed(probe, chance), f"<p>{_sentence(chance)}</p>"]
    article = "\n".join(parts)
    head = "<!doctype html><html><head><title>Harbour</title></head><body>"
    return f"{head}<article><h1>Harbour</h1>{article}</article></body></html>".encode()


def _placed(probe: Probe, chance: Random) -> str:
    element = _element(probe)
    if probe.element in AROUND:
        return AROUND[probe.element].format(element)
    if probe.element in BLOCKS:
        return element
    if probe.element not in ELEMENTS:  # nobody has it set apart by spaces
        return f"<p>There is {probe.before}{element}{probe.behind} in the lake.</p>"
    container = chance.choice(("<p>There is {} in the lake.</p>", "<ul><li>There {} stands.</li></ul>"))
    return container.format(element)


def _element(probe: Probe) -> str:
    inner = INNER.get(probe.element, "{0}").format(probe.words)
    start = f"<{probe.element}{ATTRIBUTES.get(probe.element, '')}>"
    return (
        start
        if probe.element in ("img", "input", "embed", "frame", "image")
        else f"{start}{inner}</{probe.element}>"
    )


def _sentence(chance: Random) -> str:
    return chance.choice(SENTENCES).format(year=chance.randint(1900, 2020), count=chance.randint(2, 900))


def kind_of(element: str) -> str:
    """Under which kind an element is listed."""
    if element == "img":
        return MARKS["image"].value
    mark = MARKS.get(element)
    return (
        mark.value
        if mark
        else BESIDE.get(element) or STRUCK.get(element) or (OUTSIDE if element in ELEMENTS else "")
    )


def _read(data: bytes) -> Document:
    return read_html(data.decode())


def _unknown(chance: Random) -> str:
    name = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))
    return chance.choice((f"x-{name}", f"zz{name}", f"{name}-{name[:2]}"))


FORMAT = Format("HTML", tuple(sorted(ELEMENTS - SILENT - EMPTY - ROOTS)), build, _read, _unknown, kind_of)
