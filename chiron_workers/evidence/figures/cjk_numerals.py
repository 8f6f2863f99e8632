"""Numbers of Chinese, Japanese and Korean: 1億2500万, 三万, 四人, 二〇二四, 5천만."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

# Letters of scripts without spaces between words, for classes of characters: a number may stand right behind one.
CONTINUOUS_SCRIPTS = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff"
)
_DIGIT_SIGNS = {
    sign: n
    for n, signs in enumerate(
        ("〇零", "一壹", "二两兩贰貳", "三叁參", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖")
    )
    for sign in signs
}
_SMALL = {
    "十": 10,
    "拾": 10,
    "십": 10,
    "廿": 20,
    "百": 100,
    "佰": 100,
    "백": 100,
    "千": 1000,
    "仟": 1000,
    "천": 1000,
}
_LARGE = {
    "万": 10**4,
    "萬": 10**4,
    "만": 10**4,
    "億": 10**8,
    "亿": 10**8,
    "억": 10**8,
    "兆": 10**12,
    "조": 10**12,
}
_SIGNS = "".join({**_DIGIT_SIGNS, **_SMALL, **_LARGE})
_HANGUL = "십백천만억조"
_IDEOGRAPHS = "".join(sign for sign in _SIGNS if sign not in _HANGUL)
# 이 alone is a particle as well, and 오 a cry: a digit in letters counts before a scale.
_HANGUL_DIGITS = {sign: n for n, sign in enumerate("일이삼사오육칠팔구", 1)}
_DIGITS_OF_SIGNS = {**_DIGIT_SIGNS, **_HANGUL_DIGITS}
_HANGUL_DIGIT = rf"[{''.join(_HANGUL_DIGITS)}](?=[{_HANGUL}])"
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
# With digits in it, or of signs alone; a space may part "1억 2500만".
_NUMBER = re.compile(
    rf"(?<![.,/^])(?<![^\W{CONTINUOUS_SCRIPTS}])(?P<sign>[-+](?=\d))?"
    rf"(?P<mixed>(?:{_DIGITS})(?=[{_SIGNS}])(?:(?:[{_SIGNS}]|{_HANGUL_DIGIT})+(?: (?=\d+[{_HANGUL}]))?(?:{_DIGITS})?)+)"
    rf"|(?P<pure>[{_IDEOGRAPHS}]+(?:[点點][{''.join(_DIGIT_SIGNS)}]+[万萬億亿兆]*)?)"
    rf"|(?<![가-힣])(?P<hangul>(?:{_HANGUL_DIGIT}|[{_HANGUL}]){{2,}})"
)
_PART = re.compile(
    rf"(?P<digits>{_DIGITS})|[点點](?P<decimals>[{''.join(_DIGIT_SIGNS)}]+)|(?P<sign>[{_SIGNS}{''.join(_HANGUL_DIGITS)}])"
)
# What is counted or measured by such signs. One alone says no more than "a", and 十分 is "enough".
_COUNTED_AFTER = re.compile(
    r"(?:人|名|个(?!性|人)|個(?!性|人)|箇|位(?!置|于)|年|歳|岁|歲|隻|只(?!有|是|能)|艘|头|頭|匹|羽|本(?!当|来|身)|冊|册|枚|台(?!湾)|件|回|次(?!元)|倍|割|階|层|層|票|所|家|間|间|座|"
    r"条|條|章|節|节|項|项|号|號|番|米|メートル|キロ|センチ|ミリ|グラム|公里|公斤|克|吨|噸|トン|平方|立方|円|元|圆|圓|ドル|美元|美金|欧元|歐元|ユーロ|パーセント|%|秒|分(?!之|の|野)|時間|小时|小時|"
    r"週間|周|星期|天|日間|[个個かカヶケ箇]月|世紀|世纪|代(?!表)|度|点|點|種|种|つ)"
)
_ENOUGH = re.compile(r"十分(?!間|间|钟|鐘)|十足|百姓|百科|万能|千代|千葉")
_SEVERAL_BEFORE = frozenset("数數几幾上成好")  # 数千: several thousands
_SHARE = "分之"
# 三分之一, 3分の2, 3분의 1; but 百分之 is percent.
_FRACTION = re.compile(
    rf"(?<![\d.,/{_IDEOGRAPHS}])(?!百分之)(?P<bottom>\d{{1,4}}|[{_IDEOGRAPHS}]{{1,4}})(?:分[之の]|분의 ?)"
    rf"(?P<top>\d{{1,4}}(?![\d.,]*\d)|[{_IDEOGRAPHS}]{{1,4}})"
)


@dataclass(frozen=True, slots=True)
class CjkNumeral:
    """A number at `text[start:end]`; `step` is what its last sign counts in."""

    value: Fraction
    step: Fraction
    start: int
    end: int
    in_digits: bool
    is_certain: bool  # its signs are a number here, and no part of a word: 四人, but not 四川


def read_cjk_numerals(text: str) -> Iterator[CjkNumeral]:
    """Every run of signs that may be a number, in order; plain digits alone are left to others."""
    if text.isascii():
        return
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        before = text[start - 1 : start]
        if match["mixed"]:
            # 제3조 is the third article, and no trillion.
            if before == "제":
                continue
            value, step = _value(match["mixed"])
            sign = -1 if match["sign"] == "-" else 1
            yield CjkNumeral(sign * value, step, start, end, in_digits=True, is_certain=True)
        elif match["hangul"]:  # 천오백만; 만조 may be the high tide as well
            value, step = _value(match["hangul"])
            yield CjkNumeral(value, step, start, end, in_digits=False, is_certain=False)
        else:
            value, step = _value(match["pure"])
            yield CjkNumeral(
                value, step, start, end, in_digits=False, is_certain=_is_certain(text, start, end)
            )


def read_cjk_fractions(text: str) -> Iterator[tuple[Fraction, int, int]]:
    """Every part that Chinese, Japanese or Korean words name, with where it begins and ends: 三分之一, 3分の2."""
    for match in () if text.isascii() else _FRACTION.finditer(text):
        top, bottom = value_of(match["top"]), value_of(match["bottom"])
        if top < bottom:
            yield top / bottom, *match.span()


def value_of(signs: str) -> Fraction:
    """What digits or signs come to: 2024, 二〇二四, 十九."""
    return _value(signs)[0]


def is_hundredth(text: str, start: int) -> bool:
    """Whether 百分之 stands before a number, which makes it percent."""
    return text[max(0, start - 3) : start] == "百" + _SHARE


def _is_certain(text: str, start: int, end: int) -> bool:
    signs, before = text[start:end], text[start - 1 : start]
    is_part = text.startswith(_SHARE, end) or (
        text[max(0, start - 2) : start] == _SHARE and not is_hundredth(text, start)
    )
    if is_part or before in _SEVERAL_BEFORE or _ENOUGH.match(text, start):
        return False
    if before == "第" or is_hundredth(text, start):
        return True
    is_counted = _COUNTED_AFTER.match(text, end) is not None
    if len(signs) == 1:
        return is_counted and signs not in {"一", "万", "萬", "億", "亿", "兆", "零"}
    if "点" in signs or "點" in signs:
        return is_counted or signs[-1] in _LARGE  # 三点五 alone is a time of the day
    is_positional = all(sign in _DIGIT_SIGNS for sign in signs)
    if is_positional:
        return "〇" in signs or len(signs) >= 4
    return is_counted or signs[0] in _DIGIT_SIGNS


def _value(signs: str) -> tuple[Fraction, Fraction]:
    """What the signs come to, and what the last of them counts in."""
    total, section, part, step = Fraction(0), Fraction(0), Fraction(0), Fraction(1)
    is_filled, largest = False, 0
    for match in _PART.finditer(signs):
        sign = match["sign"]
        if match["digits"]:
            digits = match["digits"].replace(",", "")
            whole, _, decimals = digits.partition(".")
            part, is_filled = Fraction(digits), True
            zeros = len(whole) - len(whole.rstrip("0"))
            step = (
                Fraction(1, 10 ** len(decimals)) if decimals else Fraction(10 ** min(zeros, len(whole) - 1))
            )
        elif match["decimals"]:
            step = Fraction(1, 10 ** len(match["decimals"]))
            part, is_filled = part + _value(match["decimals"])[0] * step, True
        elif sign in _DIGITS_OF_SIGNS:
            part, is_filled, step = part * 10 + _DIGITS_OF_SIGNS[sign], True, Fraction(1)
        elif sign in _SMALL:
            section += (part if is_filled else 1) * _SMALL[sign]
            part, is_filled, step = Fraction(0), False, (step if is_filled else Fraction(1)) * _SMALL[sign]
        else:
            if _LARGE[sign] > largest > 0:  # 114万亿
                total = (total + section + part) * _LARGE[sign]
            else:
                total += (section + part or 1) * _LARGE[sign]
            step, largest = step * _LARGE[sign], _LARGE[sign]
            section, part, is_filled = Fraction(0), Fraction(0), False
    return total + section + part, step
