"""Each element of HTML: whether its words are written, what mark it leaves, how it is listed, or why it has nothing to say."""

from chiron_workers.documents.omissions import Mark

# Their words are written, in their place.
WORDS = frozenset({
    "a", "abbr", "acronym", "address", "article", "b", "bdi", "bdo", "big", "blink", "blockquote", "body",
    "br", "caption", "center", "cite", "code", "data", "dd", "details", "dfn", "dialog", "dir", "div", "dl", "dt",
    "em", "fieldset", "figcaption", "figure", "font", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr",
    "html", "i", "img", "ins", "kbd", "label", "legend", "li", "listing", "main", "map", "mark", "marquee", "math",
    "menu", "menuitem", "meter", "multicol", "nobr", "o:p", "ol", "optgroup", "option", "output", "p", "picture",
    "plaintext", "portal", "pre", "progress", "q", "rb", "rbc", "ruby", "samp", "search", "section",
    "selectedcontent", "shadow", "slot", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr", "xmp",
})  # fmt: skip
# They stand beside the text of a page, and their words are in it only where they belong to it. What is not is listed under this.
BESIDE = {
    "aside": "passage of an aside", "button": "button", "footer": "passage of a footer", "form": "passage of a form",
    "nav": "passage of navigation", "rt": "ruby annotation", "rtc": "ruby annotation",
}  # fmt: skip
# Their words are not said any more, and are listed under this.
STRUCK = dict.fromkeys(("del", "s", "strike"), "passage that is struck out")
# They say how a page works or looks, or stand for what is shown instead of them. Templates and suggestions are never shown.
SILENT = frozenset({
    "area", "base", "basefont", "bgsound", "col", "colgroup", "command", "datalist", "frameset", "head", "isindex", "keygen",
    "link", "meta", "nextid", "noembed", "noframes", "noscript", "param", "rp", "script", "source", "spacer", "style",
    "template", "title", "track",
})  # fmt: skip
MARKS = {
    "applet": Mark.OBJECT, "audio": Mark.OBJECT, "canvas": Mark.DRAWING, "embed": Mark.OBJECT, "frame": Mark.OBJECT,
    "iframe": Mark.OBJECT, "image": Mark.PICTURE, "input": Mark.FIELD, "object": Mark.OBJECT, "select": Mark.FIELD,
    "svg": Mark.DRAWING, "textarea": Mark.FIELD, "video": Mark.OBJECT,
}  # fmt: skip
# Elements without an end.
EMPTY = {"basefont", "bgsound", "command", "isindex", "keygen", "nextid", "spacer", "track"}
EMPTY_MARKS = {"embed", "frame", "image", "input"}
ELEMENTS = WORDS | BESIDE.keys() | STRUCK.keys() | SILENT | MARKS.keys()
UNKNOWN = "unknown element"  # Its words are written between spaces, as nobody knows how it is shown.
OUTSIDE = "passage outside the main text"
# The names under which the words of these reach the text: the search for the main text would take them out.
OTHER_NAMES = {
    "blink": "span", "center": "div", "dir": "ul", "fieldset": "div", "label": "span", "legend": "p", "listing": "pre",
    "marquee": "span", "menu": "ul", "menuitem": "li", "meter": "span", "multicol": "div", "optgroup": "span",
    "option": "span", "output": "span", "portal": "div", "progress": "span", "rb": "span", "rbc": "span", "search": "div",
    "selectedcontent": "span", "shadow": "span", "slot": "span", "xmp": "pre",
}  # fmt: skip
