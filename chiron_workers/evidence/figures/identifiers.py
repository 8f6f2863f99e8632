"""Numbers that say which one is meant, and count nothing: Symphony number 5, Apollo 12, Type 2, Articles 5 and 6, 第3条."""

import re

from chiron_workers.evidence.figures.cjk_numerals import CONTINUOUS_SCRIPTS
from chiron_workers.evidence.figures.qualifiers import BEFORE_CHARS
from chiron_workers.evidence.figures.quantities import Quantity
from chiron_workers.evidence.vocabulary import FOREIGN, SILENT, words

_NO_NAMES = frozenset(words("no names"))
_PREFIXES = frozenset(words("prefixes of numbers"))
_CURRENCIES = frozenset(words("currency codes"))
_NO_NOUNS = SILENT | FOREIGN | _NO_NAMES | frozenset(words("measure nouns"))
_KINDS = "|".join(re.escape(word) for word in words("numbered"))
_SHORT_KINDS = "|".join(re.escape(word) for word in words("numbered, in short"))
_KIND_BEFORE = re.compile(
    rf"(?:(?<!\w)(?:{_KINDS})(?:e?s)? (?:# ?)?|(?<!\w)(?:{_SHORT_KINDS})\.? ?|[#§№] ?)$", re.I
)
# "Sonata number five" and "Chapter Five"; a small "group five" may be five of something.
_WORDED_KIND_BEFORE = re.compile(
    rf"(?<!\w)(?:[Nn]umber|{'|'.join(kind.capitalize() for kind in words('numbered'))}) $"
)
# "Atomic number 42" says how much; there is no other 42 of its kind.
_PROPERTY_BEFORE = re.compile(rf"\b(?:{'|'.join(words('kinds of amounts'))})[ -]numbers? $", re.I)
_DETERMINED_BEFORE = re.compile(
    r"\b(?:the|an?|each|every|this|that|one|either|another)(?: [a-z-]+)? (?!number )[a-z]+ $", re.I
)
_PLACE_BEFORE = re.compile(
    r"\b(?:[Ii]n|[Aa]t|[Oo]n|[Ff]rom|[Oo]f|[Nn]ear|[Tt]o|[Ff]or|[Ww]ith|[Aa]cross|[Dd]uring|[Bb]y|[Ss]ince|[Uu]ntil|"
    r"[Aa]fter|[Bb]efore|[Aa]round|[Ww]ithin|[Oo]utside) (?:the )?(?:\d{4},? )?(?:[A-Z][\w.&']* )+$"
)
_NAME_BEFORE = re.compile(r"(?P<name>\b(?:[A-Z]|[a-z]+[A-Z])[\w.&']*)[ -]$")
_NOUN_BEFORE = re.compile(r"(?<![\w-])(?P<noun>[a-z][a-z-]+[a-rt-z]|[a-z-]+(?:ss|us|is)) $")
# What counts, and no identifier: 5 people; but not the verb of "chapter 5 covers the duties".
_COUNTED_AFTER = re.compile(
    r"[ -](?P<noun>[a-z][a-z-]+)(?P<object> (?:the|an?|its|his|her|their|this|that|all|no)\b)?"
)
_CLAUSE_AFTER = re.compile(r"(?! (?:to|or|and) [\d$€£¥])(?: [a-z]|[,;:.!?)]?(?:\s|$))")
_VERB_AFTER = re.compile(rf" [a-z]+[^s\W]s (?!(?:{'|'.join(SILENT)})\b)[a-z]")
_MODEL_AFTER = re.compile(r" [A-Z]{2,}\b")
_PLURAL_AFTER = re.compile(
    rf" (?:(?!(?:{'|'.join(SILENT)})\b)[a-z]+ )?(?!(?:{'|'.join(SILENT)})\b)"
    r"(?:[a-z]+[^s\W]s|people|men|women|children|feet)\b(?! (?:the|an?|its)\b)"
)
_LISTED_AFTER = re.compile(r"(?:, | ?[-/&] ?| (?:and|or|to|through) |, (?:and|or) )#?$")
# An ordinal of Chinese, Japanese and Korean, and what is numbered with a sign behind it.
_ORDINAL_BEFORE = re.compile(r"(?:第|제) ?$")
_NUMBERED_AFTER = re.compile(r" ?(?:号|號|番(?![目組])|번(?!째)|호(?!텔|주))")
# Regulation 2016/679, 10 Downing Street.
_NAME_AFTER = re.compile(
    r"/\d{2}| [A-Z]\w+(?: [A-Z]\w+)? (?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|Square|Boulevard|Way|Court|Terrace|Row|Quay)\b"
)
_CODE_BEFORE = re.compile(r"(?<![^\W_])[^\W\d_]+\d*-(?:\d+-)*$|[A-Za-z]\+$")
_CODE_AFTER = re.compile(r"-[A-Z]{2}")  # 5-HT
_CHAIN = re.compile(r"(?<![\w-])\d+(?:-\d+){2,}(?![\w-])")  # ISBN, telephone numbers
_LETTER = rf"[^\W_{CONTINUOUS_SCRIPTS}]"
_MODEL_BEFORE = re.compile(r"\b[A-Z][\w.&']* (?P<first>\d{1,9})(?P<sign>[-:])$")
_TOKEN = re.compile(rf"{_LETTER}+(?:(?:[-/.:]|\+\+){_LETTER}+)*")
_SPACED_CODE = re.compile(r"([^\W\d_]+) (\d+(?:\.\d+)?)(?![\w%])")
_NO_LETTERS = re.compile(r"[\W\d_₀-₉]")
_SIGNS = re.compile(r"[^\w.]|_")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_NUMBER_WORDS = frozenset(words("numbers"))
_UNIT_CHARS_MIN = 3  # of letters behind digits: 5G and 25C are names, 5gigatonnes is none
_COUNT_CHARS_MIN = 5  # of digits; so many seldom number things


def is_identifier(text: str, start: int, end: int, *, in_digits: bool = True) -> bool:
    """Whether the number at `text[start:end]`, behind which no unit stands, says which one is meant."""
    before = text[max(0, start - BEFORE_CHARS) : start]
    if _NUMBERED_AFTER.match(text, end) or (in_digits and _NAME_AFTER.match(text, end)):
        return True
    if _PROPERTY_BEFORE.search(before) or (before.endswith(" numbers ") and _counted(text, end)):
        return False
    if not in_digits:
        return _WORDED_KIND_BEFORE.search(before) is not None
    if is_behind_kind(before):
        return True
    if _NAME_BEFORE.search(before):
        return is_named(before)
    return _is_behind_noun(text, before, start, end)


def is_ordinal(before: str) -> bool:
    """Whether a text ends with the sign that makes an ordinal of a number in Chinese, Japanese and Korean."""
    return _ORDINAL_BEFORE.search(before) is not None


def is_named(before: str) -> bool:
    """Whether a text ends with a name: `Apollo `, `iPhone `, but not the `In ` or `About ` of a sentence's beginning."""
    name = _NAME_BEFORE.search(before)
    return name is not None and name["name"].lower().removesuffix("'s") not in _NO_NAMES


def is_behind_kind(before: str) -> bool:
    """Whether a text ends with a word or sign behind which a number says which one: `Section `, `No. `, `№`."""
    return _KIND_BEFORE.search(before) is not None


def continues_list(text: str, identifier: Quantity, start: int, end: int) -> bool:
    """Whether a number goes on the list of an identifier before it: the 7 of "Articles 5 and 7", not of "Apollo 11 and 3 men"."""
    if _LISTED_AFTER.fullmatch(text, identifier.end, start) is None or _PLURAL_AFTER.match(text, end):
        return False
    # "Sections 3-5" are three, and a "Boeing 747-8" is one.
    return start - identifier.end > 1 or is_behind_kind(
        text[max(0, identifier.start - BEFORE_CHARS) : identifier.start]
    )


def is_in_code(text: str, start: int, end: int) -> bool:
    """Whether a number is a part of a code: CVE-2021-44228, C++17, 5-HT, 978-3-16-148410-0, Boeing 747-8."""
    before = text[max(0, start - BEFORE_CHARS) : start]
    if _CODE_BEFORE.search(before) or _CODE_AFTER.match(text, end) or _is_of_model(text, before, start):
        return True
    first = start
    while first and (text[first - 1].isdecimal() or text[first - 1] == "-") and start - first < BEFORE_CHARS:
        first -= 1
    return _CHAIN.match(text, first, start + BEFORE_CHARS) is not None


def _is_of_model(text: str, before: str, start: int) -> bool:
    """Whether a verse or a smaller number follows the number of a name: a range such as "Sections 3-5" ascends."""
    model, number = _MODEL_BEFORE.search(before), re.compile(r"\d{1,9}").match(text, start)
    if model is None or number is None:
        return False
    return model["sign"] == ":" or int(number[0]) < int(model["first"])


def may_number(text: str, start: int, end: int) -> bool:
    """Whether a number that counts may as well say which one: "mutant 5 binds copper", "the 737 MAX"."""
    before = text[max(0, start - BEFORE_CHARS) : start]
    is_plain = text[start:end].isdecimal() and end - start < _COUNT_CHARS_MIN
    if not is_plain or _PROPERTY_BEFORE.search(before):
        return False
    return (_noun(before) and _VERB_AFTER.match(text, end) is not None) or (
        before.lower().endswith("the ") and _MODEL_AFTER.match(text, end) is not None
    )


def may_count(text: str, start: int, end: int) -> bool:
    """Whether a plural follows a number behind a name, so that it may count as well: "in Paris 300 people died"."""
    before = text[max(0, start - BEFORE_CHARS) : start]
    is_of_one = _DETERMINED_BEFORE.search(before) is not None  # "in the control group 5 patients died"
    is_at_place = _PLACE_BEFORE.search(before) is not None and not is_behind_kind(before)
    return (is_of_one or is_at_place) and _PLURAL_AFTER.match(text, end) is not None


def code_at(text: str, place: int) -> str:
    """The code that has a digit at `place`, as it is written (GPT-4, H5N1, HTTP/2, 5G); empty where it is part of none."""
    for match in _TOKEN.finditer(text, max(0, place - BEFORE_CHARS), place + BEFORE_CHARS):
        if match.start() <= place < match.end():
            return match[0] if _is_code(match[0]) else ""
    return ""


def codes(text: str) -> dict[str, set[str]]:
    """The spellings of a text's codes, by what each is a code of: {"gpt": {"gpt4", "gpt5"}}; GPT 4 is one as well."""
    kinds: dict[str, set[str]] = {}
    tokens = [match[0] for match in _TOKEN.finditer(text) if _is_code(match[0])]
    for token in (*tokens, *("".join(match.groups()) for match in _SPACED_CODE.finditer(text))):
        kinds.setdefault(kind_of_code(token), set()).add(spelling_of_code(token))
    return kinds


def kind_of_code(code: str) -> str:
    """What a code is one of, by the letters that it has."""
    return _NO_LETTERS.sub("", code).casefold()


def spelling_of_code(code: str) -> str:
    """A code without case, hyphens and slashes, and with lowered digits on the line; the dots of a version stay."""
    return _SIGNS.sub("", code.translate(_SUBSCRIPTS)).casefold()


def kind_of_identifier(text: str, start: int, end: int) -> str:
    """What the identifier at `text[start:end]` is one of: `symphony`, `number` for each way to write it, `第条`."""
    before = text[max(0, start - BEFORE_CHARS) : start].rstrip(" #-")
    if before.endswith(("第", "제")):
        return f"第{text[end : end + 1]}"
    words_before = re.findall(r"[^\W\d_]+|[№#§°º]+", before)
    word = words_before[-1].casefold() if words_before else ""
    return "number" if word in _NUMBER_WORDS or text[start - 1 : start] == "#" else word


def _is_code(token: str) -> bool:
    letters = re.search(r"[^\W\d_]+", token)
    if letters is None or not any(map(str.isdigit, token)):
        return False
    if token[0].isdigit():
        is_short = letters.end() == len(token) and len(letters[0]) < _UNIT_CHARS_MIN
        return is_short or _CODE_AFTER.match(token, letters.start() - 1) is not None
    is_amount = letters[0].upper() in _CURRENCIES and token[letters.end()].isdigit()
    return not (letters[0].casefold() in _PREFIXES or is_amount)


def _is_behind_noun(text: str, before: str, start: int, end: int) -> bool:
    """Whether a small plain number stands right behind a singular noun and counts nothing: district 9, caspase 3."""
    is_plain = text[start:end].isdecimal() and end - start < _COUNT_CHARS_MIN
    return (
        is_plain and _noun(before) and not _counted(text, end) and _CLAUSE_AFTER.match(text, end) is not None
    )


def _noun(before: str) -> bool:
    """Whether a text seems to end with a singular noun."""
    noun = _NOUN_BEFORE.search(before)
    return noun is not None and not (noun["noun"] in _NO_NOUNS or noun["noun"].endswith(("ed", "ing", "ly")))


def _counted(text: str, end: int) -> bool:
    noun_match = _COUNTED_AFTER.match(text, end)
    if noun_match is None or noun_match["noun"] in SILENT or noun_match["noun"].endswith("ed"):
        return False
    return noun_match["object"] is None
