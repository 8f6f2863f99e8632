"""The signs of fonts that show other characters than their codes say: Symbol, Wingdings, Webdings."""

import re
from functools import cache

from chiron_workers.documents.omissions import Mark

FIRST, LAST = 0x20, 0xFF
PRIVATE = 0xF000  # Word writes the codes of such fonts as they are, or moved by this.
PRIVATE_LETTER = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
FONT_CHARS_MAX = 100
GAP = "\ufffd"  # where Unicode has no such sign

# From 0x20 on, 32 signs a line. The micro sign stands for Symbol's 0x6D, since units are what it is used for most.
SIGNS = {
    "symbol": (
        " !∀#∃%&∋()*+,−./0123456789:;<=>?"
        "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
        "‾αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}~\ufffd"
        "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵"
        "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
        "◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭\ufffd"
    ),
    "wingdings": (
        " 🖉✂✁👓🕭🕮🕯🕿✆🖂🖃📪📫📬📭🗀🗁🗎🗏🗐🗄⌛🖮🖰🖲🖳🖴🖫🖬✇✍"
        "🖎✌🖏👍👎☜☞☝☟🖐☺😐☹💣🕱🏳🏱✈☼🌢❄🕆✞🕈✠✡☪☯🕉☸♈♉"
        "♊♋♌♍♎♏♐♑♒♓🙰🙵●❍■□❐❑❒🞟⧫◆❖◆⌧⮹⌧🏵🏶🙶🙷▯"
        "🄋➀➁➂➃➄➅➆➇➈➉🄌➊➋➌➍➎➏➐➑➒➓🙢🙠🙡🙣🙞🙜🙝🙟·•"
        "⬝○🞆🞈🞊🞋🔿▪◻🟁🟅★🟋🟏🟓🟑⯐⌖⯎⯏⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘"
        "🕙🕚🕛⮰⮱⮲⮳⮴⮵⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦⮘➢⮙⮛⮈⮊⮉⮋←"
        "→↑↓↖↗↙↘⬅➔⬆⬇🡼🡽🡿🡾⇦⇨⇧⇩⬄⇳⬁⬀⬃⬂🢬🢭✗✓☒☑\ufffd"
    ),
    "wingdings 2": (
        " 🖊🖋🖌🖍✄✀🕾🕽🗅🗆🗇🗈🗉🗊🗋🗌🗍📋🗑🗔🖵🖶🖷🖸🖭🖯🖱🖒🖓🖘🖙"
        "🖚🖛👈👉🖜🖝🖞🖟🖠🖡👆👇🖢🖣🖑✗✓☒☑⮽☒⮾⮿🛇⦸🙱🙴🙲🙳‽🙹🙺"
        "🙻🙦🙤🙥🙧🙚🙘🙙🙛⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿\ufffd"
        "☉🌕☽☾⸿✝🕇🕜🕝🕞🕟🕠🕡🕢🕣🕤🕥🕦🕧🙨🙩⋅🞄●●○🞅🞇🞉⊙⦿🞌"
        "🞍◾■□🞑🞒🞓🞔▣🞕🞖🞗🞘⬩⬥◇🞚◈🞛🞜🞝🞞⬪⬧◊🞠◖◗⯊⯋⯀⯁"
        "⬟⯂⬣⬢⯃⯄🞡🞢🞣🞤🞥🞦🞧🞨🞩🞪🞫🞬🞭🞮🞯🞰🞱🞲🞳🞴🞵🞶🞷🞸🞹🞺"
        "🞻🞼🞽🞾🞿🟀🟂🟄🟆🟉🟊✶🟌🟎🟐🟒✹🟃🟇✯🟍🟔⯌⯍※⁂\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"
    ),
    "wingdings 3": (
        " ⭠⭢⭡⭣⭦⭧⭩⭨⭰⭲⭱⭳⭶⭸⭻⭽⭤⭥⭪⭬⭫⭭⭍⮠⮡⮢⮣⮤⮥⮦⮧"
        "⮐⮑⮒⮓⮀⮃⭾⭿⮄⮆⮅⮇⮏⮍⮎⮌⭮⭯⎋⌤⌃⌥␣⍽⇪⮸🢠🢡🢢🢣🢤🢥"
        "🢦🢧🢨🢩🢪🢫🡐🡒🡑🡓🡔🡕🡗🡖🡘🡙▲▼△▽◀▶◁▷◣◢◤◥🞀🞂🞁\ufffd"
        "🞃⯅⯆⯇⯈⮜⮞⮝⮟🠐🠒🠑🠓🠔🠖🠕🠗🠘🠚🠙🠛🠜🠞🠝🠟🠀🠂🠁🠃🠄🠆🠅"
        "🠇🠈🠊🠉🠋🠠🠢🠤🠦🠨🠪🠬🢜🢝🢞🢟🠮🠰🠲🠴🠶🠸🠺🠹🠻🢘🢚🢙🢛🠼🠾🠽"
        "🠿🡀🡂🡁🡃🡄🡆🡅🡇⮨⮩⮪⮫⮬⮭⮮⮯🡠🡢🡡🡣🡤🡥🡧🡦🡰🡲🡱🡳🡴🡵🡷"
        "🡶🢀🢂🢁🢃🢄🢅🢇🢆🢐🢒🢑🢓🢔🢖🢕🢗\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"
    ),
    "webdings": (
        " 🕷🕸🕲🕶🏆🎖🖇🗨🗩🗰🗱🌶🎗🙾🙼🗕🗖🗗⏴⏵⏶⏷⏪⏩⏮⏭⏸⏹⏺🗚🗳"
        "🛠🏗🏘🏙🏚🏜🏭🏛🏠🏖🏝🛣🔍🏔👁👂🏞🏕🛤🏟🛳🕬🕫🕨🔈🎔🎕🗬🙽🗭🗪🗫"
        "⮔✔🚲□🛡📦🛱■🚑🛈🛩🛰🟈🕴●🛥🚔🗘✗❓🛲🚇🚍⛳⦸⊖🚭🗮⏐🗯🗲\ufffd"
        "🚹🚺🛉🛊🚼👽🏋⛷🏂🏌🏊🏄🏍🏎🚘🗠🛢💰🏷💳👪🗡🗢🗣✯🖄🖅🖃🖆🖹🖺🖻"
        "🕵🕰🖽🖾📋🗒🗓🕮📚🗞🗟🗃🗂🖼🎭🎜🎘🎙🎧💿🎞📷🎟🎬📽📹📾📻🎚🎛📺💻"
        "🖥🖦🖧🕹🎮🕻🕼📟🖁🖀🖨🖩🖿🖪🗜🔒🔓🗝📥📤🕳🌣🌤🌥🌦☁🌨🌧🌩🌪🌬🌫"
        "🌜🌡🛋🛏🍽🍸🛎🛍Ⓟ♿🛆🖈🎓🗤🗥🗦🗧🛪🐿🐦🐟🐕🐈🙬🙮🙭🙯🗺🌍🌏🌎🕊"
    ),
}
# Fonts of signs by their names, without spaces and hyphens. The first are Unicode's, whose letters are what their codes say.
UNICODE_FAMILY = re.compile(
    r"segoe|noto|apple|symbola|^opens|^starsym|cambria|dejavu|unicode|emoji|stix|material|quivira|symbolsnerd"
)
STYLES = re.compile(r"(?:regular|normal|bold|italic|oblique)+$")
SYMBOL_FAMILY = re.compile(
    r"^(?:euclid|standard)symbol|^standardsym|^symbol(?:mt|ps|bt|neu|tiger|prop|set|std|$)"
)
SIGN_FAMILY = re.compile(
    r"symbol|w[ei](?:ng|b)ding|dingbat|^mtextra|^euclid(?:extra|math)|^fences|monotypesorts|marlett|^msoutlook|specialty"
    r"|^wp(?:math|greek|typographic|iconic|phonetic|box|multinational)|^wolframmath|^mathematica[1-7]"
)
TABLES = {name.replace(" ", ""): name for name in SIGNS}
UNKNOWN_SIGNS = "signs"  # a font of signs without a table here


@cache
def sign_family(font: str) -> str:
    """The table of `SIGNS` that a font follows, `UNKNOWN_SIGNS` for a font of signs without one, empty for any other."""
    name = re.sub(r"[\s_-]", "", font[:FONT_CHARS_MAX]).lower()
    name = STYLES.sub("", name)
    if name in TABLES:
        return TABLES[name]
    if UNICODE_FAMILY.search(name):
        return ""
    if SYMBOL_FAMILY.search(name):
        return "symbol"
    return UNKNOWN_SIGNS if SIGN_FAMILY.search(name) else ""


def is_sign_font(font: str) -> bool:
    """Whether the characters of a font are signs other than their codes say."""
    return bool(sign_family(font))


def sign(code: int, font: str) -> str:
    """What a font shows for a character code that a file gives as a number; empty where that is not known.

    Codes above Latin-1 are Unicode's. Those below may be the font's own, so that they say nothing without its table.
    """
    signs = SIGNS.get(sign_family(font))
    place = (code & 0xFF if PRIVATE <= code <= PRIVATE + LAST else code) - FIRST
    if signs is not None and 0 <= place < len(signs):
        return signs[place] if signs[place] != GAP else ""
    return chr(code) if code > LAST and is_character(code) else ""


def is_character(code: int) -> bool:
    """Whether Unicode says what a code shows. It does not for codes of private use, surrogates and controls."""
    is_private = 0xE000 <= code <= 0xF8FF or code >= 0xF0000
    return code >= FIRST and not is_private and not 0xD800 <= code <= 0xDFFF and not 0x7F <= code < 0xA0


def signs_of(text: str, font: str) -> tuple[str, int]:
    """A text as its font shows it, and how many of its characters are marks for signs that nobody knows.

    Args:
        font: The font, if it is one of signs; empty for any other.
    """
    if not font and not PRIVATE_LETTER.search(text):
        return text, 0
    unknown = 0
    letters = list[str]()
    for letter in text:
        # Word takes the letters of Latin-1 that are not ASCII, and all others of Unicode, from another font.
        is_plain = (
            letter.isspace() or "\x80" <= letter < "\ue000" or not (font or PRIVATE_LETTER.match(letter))
        )
        words = letter if is_plain else sign(ord(letter), font)
        unknown += not words
        letters.append(words or Mark.SIGN.text)
    return "".join(letters), unknown
