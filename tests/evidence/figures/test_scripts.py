"""Figures in the digits, scales and units of many scripts, as a fact in one language rests on a quote in another."""

import pytest

from chiron_workers.evidence.figures.figures import plain, read_figures
from chiron_workers.evidence.statements.relation import relate
from chiron_workers.evidence.statements.support import judge_by_rules
from chiron_workers.evidence.statements.unsupported import missing_figures
from chiron_workers.states import Relation, Verdict

JAPAN = "日本の人口は約１億２５００万人で、面積は37万8000平方キロメートルである。"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("１億２５００万人", 125_000_000),
        ("1億2500万人", 125_000_000),
        ("一億二千五百万人", 125_000_000),
        ("1.5万人", 15_000),
        ("三万隻の船", 30_000),
        ("3百万人", 3_000_000),
        ("两万五千人", 25_000),
        ("四人", 4),
        ("人口１，２３４人", 1_234),
        ("1억 2500만 명", 125_000_000),
        ("5천만 명", 50_000_000),
        ("٥ ملايين نسمة", 5_000_000),
        ("۸۵ میلیون نفر", 85_000_000),
        ("١٬٢٣٤ شخصا", 1_234),
        ("१,५०,००० लोग", 150_000),
        ("12 लाख लोग", 1_200_000),
        ("१५ करोड़ लोग", 150_000_000),
        ("১৫ কোটি মানুষ", 150_000_000),
        ("1,50,000 people", 150_000),
        ("5 lakh people", 500_000),
        ("12 crores of people", 120_000_000),
        ("๗๐ ล้านคน", 70_000_000),
        ("5 พันล้านคน", 5_000_000_000),
        ("84 Mio. Menschen", 84_000_000),
        ("1,5 Millionen Menschen", 1_500_000),
        ("3 Milliarden Menschen", 3_000_000_000),
        ("1.250.000 Menschen", 1_250_000),
        ("3 mil millones de personas", 3_000_000_000),
        ("3,5 млн человек", 3_500_000),
        ("2 tỷ người", 2_000_000_000),
        ("5 milyon kişi", 5_000_000),
        ("三点五亿人", 350_000_000),
        ("1億2千万人", 120_000_000),
        ("1 crore 50 lakh people", 15_000_000),
        ("2 लाख 30 हज़ार लोग", 230_000),
        ("۲۵ هزار و ۳۰۰ نفر", 25_300),
    ],
)
def test_a_number_is_read_in_the_digits_and_scales_of_its_language(text: str, number: int) -> None:
    [quantity] = read_figures(text).quantities
    assert (quantity.dimension, quantity.low) == ("count", number)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("2021年5月3日", (2021, 5, 3)),
        ("２０２１年５月", (2021, 5, 1)),
        ("二〇二四年", (2024, 1, 1)),
        ("令和3年", (2021, 1, 1)),
        ("公元前221年", (-221, 1, 1)),
        ("十九世紀", (1800, 1, 1)),
        ("1990年代", (1990, 1, 1)),
        ("2021년 5월 3일", (2021, 5, 3)),
    ],
)
def test_a_date_is_read_as_chinese_japanese_and_korean_write_it(
    text: str, first: tuple[int, int, int]
) -> None:
    [date] = read_figures(text).dates
    assert date.first == first
    assert read_figures(text).quantities == ()


@pytest.mark.parametrize(
    "text",
    [
        "四川省は広い。",
        "数千人が来た。",
        "十分な水がある。",
        "一般に使われる。",
        "一人もいない。",
        "万一に備える。",
        "三分之后",
        "만조와 천만의 말씀",
    ],
)
def test_signs_of_numbers_within_words_are_no_figures(text: str) -> None:
    assert read_figures(text).all == ()


def test_digits_of_every_script_become_plain_ones_letter_for_letter() -> None:
    digits = "０１２٠١٢۰۱۲०१२০১২๐๑๒၀၁၂០១២༠༡༢꩐𝟏"
    assert plain(digits) == "012012012012012012012012012" + "01"
    assert len(plain("１，２３４　٪٥")) == len("１，２３４　٪٥")
    assert plain("２０２１，３００人") == "2021，300人"


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("日本の人口は約1億2500万人である。", JAPAN),
        ("The population of Japan is about 125 million.", JAPAN),
        ("Japan has an area of 378,000 km².", JAPAN),
        ("4人が死亡した。", "四人が死亡した。"),
        ("四人が死亡した。", "4人が死亡した。"),
        ("Four people died.", "四人が死亡した。"),
        ("It was founded in 2024.", "二〇二四年に設立された。"),
        ("It opened on 3 May 2021.", "2021年5月3日に開業した。"),
        ("It opened on 3 May 2021.", "Es wurde am 3. Mai 2021 eröffnet."),
        ("It costs 1,50,000 rupees.", "It costs 150,000 rupees."),
        ("It costs 1.5 lakh rupees.", "It costs Rs 1,50,000."),
        ("15 crore people voted.", "150 million people voted."),
        ("150 million people voted.", "१५ करोड़ लोगों ने मतदान किया।"),
        ("15 करोड़ लोगों ने मतदान किया।", "१५ करोड़ लोगों ने मतदान किया।"),
        ("5 % of the people left.", "غادر ٪٥ من السكان."),
        ("3.5 percent of the people left.", "۳٫۵ درصد مردم رفتند."),
        ("3.5 percent of the people left.", "۳/۵ درصد مردم رفتند."),
        ("1,234 people came.", "Es kamen 1.234 Menschen."),
        ("50 million people live there.", "5천만 명이 산다."),
        ("70 million people live there.", "ประชากร ๗๐ ล้านคน"),
        ("It rose by 12 %.", "上涨了百分之十二。"),
        ("It rose by 3.5 %.", "上涨了百分之三点五。"),
        ("The tower is 330 m tall.", "塔高三百三十米。"),
        ("Japan has 126 million people.", "日本の人口は１億２５８０万人だった。"),
        ("China's GDP was 114 trillion yuan.", "国内生产总值114万亿元。"),
        ("1.4 billion people live there.", "१४० करोड़ लोग रहते हैं।"),
        ("It has 1,234,567 people.", "عدد السكان ١،٢٣٤،٥٦٧ نسمة."),
        ("Its area is 17.1 million km².", "Площадь — 17 125 191 км²."),
        ("Revenue rose 12 percent.", "Gelirler yüzde 12 arttı."),
        ("Revenue was €2.5 billion.", "Le chiffre d'affaires est de 2,5 milliards d'euros."),
        ("It is 1,234.5 m high.", "Er ist 1.234,5 m hoch."),
        ("The tower is 634 m high.", "高さ６３４ｍの塔。"),
        ("It lasted 3 hours.", "持续了三个小时。"),
        ("About a third agreed.", "約三分の一が賛成した。"),
        ("Three people died.", "तीन लोग मरे।"),
        ("Four people died.", "네 명이 숨졌다."),
        ("₹2 लाख करोड़", "It is 2 trillion rupees."),
        ("A third of the members agreed.", "三分の一の会員が賛成した。"),
        ("A third of the members agreed.", "三分之一的会员赞成。"),
        ("33 percent of the members agreed.", "三分之一的会员赞成。"),
        ("33 percent of the members agreed.", "3分の1の会員が賛成した。"),
        ("Two thirds of the members agreed.", "회원의 3분의 2가 찬성했다."),
        ("15 million people live there.", "천오백만 명이 산다."),
        ("15 million people live there.", "1천오백만 명이 산다."),
        ("15 thousand people came.", "पंद्रह हज़ार लोग आए।"),
        ("15,000 people came.", "Пришли пятнадцать тысяч человек."),
        ("33 percent of the members agreed.", "A third of the members agreed."),
        ("三分の一の会員が賛成した。", "33%の会員が賛成した。"),
    ],
)
def test_a_figure_is_shown_by_a_quote_in_another_script(statement: str, quote: str) -> None:
    assert missing_figures(statement, quote) == []


@pytest.mark.parametrize(
    ("statement", "quote", "figure"),
    [
        ("The population of Japan is about 152 million.", JAPAN, "about 152 million"),
        ("5人が死亡した。", "四人が死亡した。", "5"),
        ("The tower is 324 m tall.", "塔高三百三十米。", "324 m"),
        ("16 crore people voted.", "150 million people voted.", "16 crore"),
        ("160 million people voted.", "१५ करोड़ लोगों ने मतदान किया।", "160 million"),
        ("It opened on 4 May 2021.", "2021年5月3日に開業した。", "4 May 2021"),
        ("6 % of the people left.", "غادر ٪٥ من السكان.", "6 %"),
        ("Its area is 17.3 million km².", "Площадь — 17 125 191 км².", "17.3 million km²"),
        ("Three people died.", "५ लोग मरे।", "Three"),
        ("35 percent of the members agreed.", "三分之一的会员赞成。", "35 percent"),
        ("A quarter of the members agreed.", "三分之一的会员赞成。", "A quarter"),
        ("33 percent of the members agreed.", "三分の二の会員が賛成した。", "33 percent"),
        ("16 million people live there.", "천오백만 명이 산다.", "16 million"),
        ("15 million people came.", "पंद्रह हज़ार लोग आए।", "15 million"),
        ("15 thousand people came.", "१६ हज़ार लोग आए।", "15 thousand"),
    ],
)
def test_another_figure_is_not_shown_by_it(statement: str, quote: str, figure: str) -> None:
    assert missing_figures(statement, quote) == [figure]


@pytest.mark.parametrize(
    ("new", "prior"),
    [
        ("4人が死亡した。", "四人が死亡した。"),
        ("日本の人口は約1億2500万人である。", "日本の人口は約１億２５００万人である。"),
        ("塔高330米。", "塔高３３０米。"),
        ("The mine employs 1,50,000 people.", "The mine employs 150,000 people."),
    ],
)
def test_statements_that_differ_in_digits_alone_are_the_same(new: str, prior: str) -> None:
    assert relate(new, prior).relation is Relation.SAME


def test_a_measure_of_another_script_contradicts_another_one() -> None:
    assert relate("塔高330米。", "塔高324米。").relation is Relation.CONTRADICTS
    assert relate("4人が死亡した。", "5人が死亡した。").relation is None


def test_the_handed_page_supports_its_figures_by_no_rule_as_partly() -> None:
    for statement in ("日本の人口は約1億2500万人である。", "The population of Japan is about 125 million."):
        finding = judge_by_rules(statement, JAPAN)
        assert finding is None or finding.verdict is not Verdict.PARTLY
