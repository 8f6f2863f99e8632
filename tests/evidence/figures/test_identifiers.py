"""Numbers that say which one is meant: two of them deny each other nothing, and a quote without them lacks no figure."""

import pytest

from chiron_workers.evidence.figures.figures import read_figures
from chiron_workers.evidence.statements.relation import relate
from chiron_workers.evidence.statements.unsupported import find_unsupported, missing_figures
from chiron_workers.states import Relation

# A sentence, the same about another one of its kind, and without saying which.
IDENTIFIERS = (
    "Symphony number 5 was first played in Vienna.|Symphony number 9 was first played in Vienna.|The symphony was first played.",
    "Concerto number 1 lasts half an hour.|Concerto number 2 lasts half an hour.|The concerto lasts half an hour.",
    "Sonata number five is short.|Sonata number nine is short.|The sonata is short.",
    "The number 5 bus stops here.|The number 9 bus stops here.|The bus stops here.",
    "Player number 10 left the field.|Player number 9 left the field.|The player left the field.",
    "HTTP/2 compresses headers.|HTTP/3 compresses headers.|HTTP compresses headers.",
    "Apollo 12 landed on the Moon.|Apollo 14 landed on the Moon.|Apollo landed on the Moon.",
    "Type 2 diabetes is common in adults.|Type 1 diabetes is common in adults.|Diabetes is common in adults.",
    "Carbon-14 is a rare isotope.|Carbon-13 is a rare isotope.|This carbon is a rare isotope.",
    "COVID-19 spread quickly.|COVID-20 spread quickly.|The coronavirus spread quickly.",
    "SARS-CoV-2 spread quickly.|SARS-CoV-1 spread quickly.|The coronavirus spread quickly.",
    "Section 3 covers the duties of tenants.|Section 4 covers the duties of tenants.|It covers the duties of tenants.",
    "interleukin-2 activates T cells.|interleukin-6 activates T cells.|An interleukin activates T cells.",
    "Interleukin 2 activates T cells.|Interleukin 6 activates T cells.|An interleukin activates T cells.",
    "GPT-4 passed the bar exam.|GPT-3 passed the bar exam.|GPT passed the bar exam.",
    "Windows 11 requires a TPM chip.|Windows 10 requires a TPM chip.|Windows requires a TPM chip.",
    "Windows 2000 was slow.|Windows 2003 was slow.|Windows was slow.",
    "The iPhone 12 has a new camera.|The iPhone 13 has a new camera.|The iPhone has a new camera.",
    "The Boeing 747 has four engines.|The Boeing 707 has four engines.|The Boeing has four engines.",
    "Under Article 5 the parties must consult.|Under Article 6 the parties must consult.|The parties must consult.",
    "Chapter 12 deals with family farmers.|Chapter 11 deals with family farmers.|It deals with family farmers.",
    "Chapter Five deals with love.|Chapter Nine deals with love.|The chapter deals with love.",
    "Vol. 3 was printed in Leipzig.|Vol. 4 was printed in Leipzig.|It was printed in Leipzig.",
    "MIME is defined in RFC 2045.|MIME is defined in RFC 2046.|MIME is defined in an RFC.",
    "ISO 9001 is a standard for quality.|ISO 9002 is a standard for quality.|It is a standard for quality.",
    "Vitamin B12 is made by bacteria.|Vitamin B6 is made by bacteria.|The vitamin is made by bacteria.",
    "H5N1 infects birds.|H7N1 infects birds.|Influenza infects birds.",
    "CVE-2021-44228 is critical.|CVE-2021-45046 is critical.|The flaw is critical.",
    "PM2.5 harms the lungs.|PM10 harms the lungs.|The particles harm the lungs.",
    "Caspase 3 is activated first.|Caspase 9 is activated first.|This caspase is activated first.",
    "In it caspase 3 is activated first.|In it caspase 9 is activated first.|In it this caspase is activated first.",
    "In the vote district 9 rejected the plan.|In the vote district 7 rejected the plan.|In the vote a district rejected it.",
    "10 Downing Street is old.|11 Downing Street is old.|Downing Street is old.",
    "Regulation (EU) 2016/679 protects data.|Regulation (EU) 2018/1725 protects data.|Regulation (EU) 2016/679 protects data.",
    "Public Law 117-2 was signed.|Public Law 117-3 was signed.|Public Law 117-2 was signed.",
    "The bug was fixed in version 3.2.|The bug was fixed in version 3.4.|The bug was fixed.",
    "§ 3 covers the duties.|§ 4 covers the duties.|The law covers the duties.",
    "Issue #3 was closed.|Issue #4 was closed.|The issue was closed.",
    "Articles 5 and 7 apply.|Articles 6 and 7 apply.|The articles apply.",
    "Sonatas nos. 5 and 7 are short.|Sonatas nos. 6 and 7 are short.|The sonatas are short.",
    "Die Symphonie Nr. 5 steht in c-Moll.|Die Symphonie Nr. 9 steht in c-Moll.|Die Symphonie steht in c-Moll.",
    "La symphonie n° 9 est longue.|La symphonie n° 5 est longue.|La symphonie est longue.",
    "La sinfonía núm. 9 es larga.|La sinfonía núm. 5 es larga.|La sinfonía es larga.",
    "Симфония № 7 написана в Ленинграде.|Симфония № 5 написана в Ленинграде.|Симфония написана в Ленинграде.",
    "Статья 7 была отменена.|Статья 5 была отменена.|Статья была отменена.",
    "第3条は義務を定める。|第4条は義務を定める。|この条は義務を定める。",
    "第三条は義務を定める。|第四条は義務を定める。|この条は義務を定める。",
    "第5号交响曲很长。|第9号交响曲很长。|交响曲很长。",
    "제3조는 의무를 정한다.|제4조는 의무를 정한다.|이 조는 의무를 정한다.",
    "第3天的会议很长。|第4天的会议很长。|会议很长。",
    "交響曲第5番は長い。|交響曲第9番は長い。|交響曲は長い。",
    "베토벤 교향곡 5번은 길다.|베토벤 교향곡 9번은 길다.|베토벤 교향곡은 길다.",
    "سمفونی شماره ۵ بلند است.|سمفونی شماره ۹ بلند است.|سمفونی بلند است.",
    "Artykuł 5 chroni wolność.|Artykuł 6 chroni wolność.|Artykuł chroni wolność.",
    "Madde 5 geçerlidir.|Madde 6 geçerlidir.|Madde geçerlidir.",
    "Điều 5 quy định việc này.|Điều 6 quy định việc này.|Điều này quy định.",
    "ข้อ 5 กำหนดไว้|ข้อ 6 กำหนดไว้|ข้อนี้กำหนดไว้",
    "המאמר מספר 5 ארוך.|המאמר מספר 6 ארוך.|המאמר ארוך.",
    "المادة ٥ تحدد الواجبات.|المادة ٦ تحدد الواجبات.|المادة تحدد الواجبات.",
    "अनुच्छेद ५ लागू है।|अनुच्छेद ६ लागू है।|अनुच्छेद लागू है।",
)


@pytest.mark.parametrize("row", IDENTIFIERS)
def test_identifiers_that_differ_contradict_nothing_and_are_no_figures_that_a_quote_lacks(row: str) -> None:
    statement, rival, unnumbered = row.split("|")
    assert relate(statement, rival).relation in {None, Relation.NEW}
    assert relate(rival, statement).relation in {None, Relation.NEW}
    assert missing_figures(statement, unnumbered) == []


NUMBERED = (
    "Symphony {}5 is in C minor.",
    "The perfume Chanel {}5 is old.",
    "Patent {}5 was granted in 1990.",
    "Resolution {}242 was adopted.",
    "Beethoven wrote Symphony {}5 in 1808.",
)


@pytest.mark.parametrize("template", NUMBERED)
@pytest.mark.parametrize("sign", ["No. ", "No ", "no. ", "number ", "#", "№ ", "No.", "№"])
def test_the_word_that_numbers_something_is_no_denial_in_any_spelling(template: str, sign: str) -> None:
    numbered, spelled = template.format(sign), template.format("number ")
    assert relate(numbered, spelled).relation is Relation.SAME
    assert relate(spelled, numbered).relation is Relation.SAME
    assert find_unsupported(numbered, spelled) == find_unsupported(spelled, numbered) == []
    assert relate(numbered, template.format("")).relation in {None, Relation.SAME}


def test_the_numbers_of_laws_and_of_several_things_deny_nothing() -> None:
    for pair in (
        ("Regulation No 1907/2006 covers chemicals.", "Regulation 1907/2006 covers chemicals."),
        ("Sonatas nos. 5 and 7 are short.", "Sonatas 5 and 7 are short."),
        ("Sonatas Nos 5 and 7 are short.", "Sonatas numbers 5 and 7 are short."),
    ):
        assert {relate(*pair).relation, relate(*reversed(pair)).relation} <= {None, Relation.SAME}
        assert find_unsupported(*pair) == find_unsupported(*reversed(pair)) == []


@pytest.mark.parametrize(
    ("denial", "plain"),
    [("No two reports agree.", "Two reports agree."), ("No 5 km run was held.", "A 5 km run was held.")],
)
def test_no_before_what_counts_is_still_a_denial(denial: str, plain: str) -> None:
    assert find_unsupported(denial, plain) == ['The fact says "no", the quote does not.']


@pytest.mark.parametrize(
    ("statement", "rival"),
    [
        ("The mutant 5 binds copper.", "The mutant 6 binds copper."),
        ("The 737 MAX was grounded.", "The 747 MAX was grounded."),
        ("NGC 2024 is a nebula.", "NGC 2023 is a nebula."),
        ("Windows 2000 was slow.", "Windows 2003 was slow."),
        ("The bug was fixed in version 3.2.", "The bug was fixed in version 3.4."),
    ],
)
def test_a_number_that_may_belong_to_a_name_leaves_it_open_whether_they_contradict(
    statement: str, rival: str
) -> None:
    assert relate(statement, rival).relation not in {Relation.CONTRADICTS, Relation.SAME}
    assert relate(rival, statement).relation not in {Relation.CONTRADICTS, Relation.SAME}


@pytest.mark.parametrize(
    ("template", "numbers"),
    [
        ("In Paris {} people died.", (300, 500)),
        ("At Fukushima {} reactors melted down.", (3, 4)),
        ("By 2020 Paris {} stations were closed.", (12, 15)),
        ("In 2020 Paris {} stations were closed.", (12, 15)),
        ("In June {} people died in Ohio.", (300, 500)),
        ("In the control group {} patients died.", (5, 7)),
    ],
)
def test_a_number_behind_a_name_that_may_count_leaves_it_open_whether_they_contradict(
    template: str, numbers: tuple[int, int]
) -> None:
    statement, rival = (template.format(number) for number in numbers)
    assert relate(statement, rival).relation is None
    assert relate(rival, statement).relation is None
    assert relate(statement, statement).relation is Relation.SAME


@pytest.mark.parametrize(
    "statement",
    [
        "SARS-CoV-2 binds to ACE2.",
        "CD4+ T cells and IL-6 fall.",
        "The B.1.1.7 variant spread.",
        "C++17 added algorithms.",
        "IEEE 802.11 defines Wi-Fi.",
        "TLS 1.3 and SHA-256 are safe.",
        "RS-232 is old.",
        "Form 1040 is long.",
        "John 3:16 is short.",
        "Psalms 23 and 24 are short.",
        "The 5-HT2A receptor helps.",
        "HPV 16 causes cancer.",
        "Uranium-235 is fissile.",
        "Fortune 500 firms grew.",
        "Comet 67P was seen.",
        "Flight 370 vanished.",
        "The iPhone 15 Pro is heavy.",
        "STS-51-L failed.",
        "En el artículo 5 se protege la libertad.",
        "Il se trouve au chapitre 3.",
    ],
)
def test_names_with_numbers_are_no_figures_that_a_quote_lacks(statement: str) -> None:
    assert missing_figures(statement, "Nothing of that kind is said in these words.") == []


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("GPT-4 passed.", "GPT 4 passed."),
        ("The air holds CO2.", "The air holds CO₂."),
        ("Interleukin 2 helps.", "interleukin-2 helps."),
        ("Symphony No. 5 is short.", "Symphony number five is short."),
        ("第3条は義務を定める。", "第三条は義務を定める。"),
        ("Article 5 applies.", "Es gilt Artikel 5."),
        ("Article 3 applies.", "第三条が適用される。"),
    ],
)
def test_an_identifier_is_there_in_another_spelling(statement: str, quote: str) -> None:
    assert missing_figures(statement, quote) == []


@pytest.mark.parametrize(
    ("statement", "quote", "figure"),
    [
        ("GPT-4 passed.", "GPT-3 passed.", "GPT-4"),
        ("Symphony No. 5 is short.", "Symphony number 9 is short.", "5"),
        ("Apollo 12 landed.", "Apollo 11 landed.", "12"),
        ("In Paris 300 people died.", "In Paris people died.", "300"),
        ("In the control group 7 patients died.", "In the control group patients died.", "7"),
        ("It's 7 people.", "It's people.", "7"),
        ("Tickets cost EUR500.", "Tickets are dear.", "500"),
        ("It began in mid-1990.", "It began long ago.", "1990"),
    ],
)
def test_another_one_of_its_kind_and_what_counts_are_figures_that_a_quote_lacks(
    statement: str, quote: str, figure: str
) -> None:
    assert missing_figures(statement, quote) == [figure]


@pytest.mark.parametrize(
    "template",
    [
        "Number of deaths: {}.",
        "The number of deaths is {}.",
        "The number of members rose to {}.",
        "The storm killed {} people.",
        "The club has {} members.",
        "The team lost {} games.",
        "The town has a population of {}.",
        "The score was {}.",
        "The committee has {} seats.",
        "It is now {} metres high.",
        "Niobium has the atomic number {}.",
        "The firm employs {} people.",
        "It prints the number in base {}.",
        "The bus carries {} passengers.",
        "They own {} cars.",
        "The fleet numbers {} ships.",
        "Apollo 12 carried {} men.",
        "Version 3 fixed {} bugs.",
    ],
)
def test_numbers_that_count_still_contradict_each_other(template: str) -> None:
    assert relate(template.format(5), template.format(9)).relation is Relation.CONTRADICTS
    assert missing_figures(template.format(5), "Nothing is counted here.") != []


@pytest.mark.parametrize(
    "text", [f"{kind} {number}" for kind in ("Level", "Phase", "Room", "Page") for number in (3, 2019)]
)
def test_what_stands_behind_a_kind_is_read_as_a_name_and_no_amount(text: str) -> None:
    figures = read_figures(f"{text} is the last.")
    assert all(figure.dimension in {"name", "date"} for figure in figures.all)
