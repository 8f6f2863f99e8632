"""Which changes of a text put a quote into another context."""

import pytest

from chiron_workers.evidence.quotes.context_changes import Place, find_context_changes
from chiron_workers.evidence.quotes.text_units import is_counter, is_date

QUOTE = "The rate of the bank is 5 % a year."
TEXT = [
    "Home | News | Sport",
    "Bank rates",
    "The bank was founded in 1900.",
    QUOTE,
    "It has branches in ten towns.",
    "Last updated: 3 May 2024",
    "12 comments",
    "© 2024 The Times",
]
ROWS = ["Rates in millions", "Bank | 2019 | 2020", "North | 5 | 6", "South | 7 | 8", "Source: the banks"]
LONG = [f"Paragraph {n} tells of other things in many words." for n in range(300)]


def difference(
    before: list[str], now: list[str], quote: str = QUOTE, titles: tuple[str, str] = ("", "")
) -> str:
    text = "\n\n".join(before)
    place = Place(text.index(quote), text.index(quote) + len(quote), titles[0])
    [change] = find_context_changes(text, "\n\n".join(now), [place], titles[1])
    return change.words if change else ""


def inserted(place: int, *lines: str, into: list[str] = TEXT) -> list[str]:
    return [*into[:place], *lines, *into[place:]]


@pytest.mark.parametrize(
    "line",
    [
        "RETRACTED by its authors",
        "This page is superseded by version 2.",
        "Dieser Artikel wurde zurückgezogen",
        "この論文は撤回されました",
        "Bu makale geri çekildi.",
        "Satire",
        "Sponsored by the bank",
    ],
)  # fmt: skip
def test_a_banner_is_new_context_however_far_the_quote_is(line: str) -> None:
    assert line in difference(TEXT, [line, *TEXT])
    far = [*LONG[:150], "Rates", QUOTE, *LONG[150:]]
    assert line in difference(far, [line, *far])


@pytest.mark.parametrize(
    "line",
    [
        "Update: this figure was wrong.",
        "None of this is so any more.",
        "Обновление: эта цифра неверна.",
        "अद्यतन: यह आंकड़ा गलत था।",
        "ตัวเลขนี้ไม่ถูกต้องและถูกแก้ไขแล้ว",
        "The authors no longer stand behind this figure",
        "Critics reply that the bank pays nothing.",
    ],
)
def test_a_sentence_below_a_quote_is_new_context(line: str) -> None:
    assert line in difference(TEXT, inserted(4, line))


def test_a_heading_a_lead_in_and_a_block_quote_are_context() -> None:
    assert "Common myths" in difference(TEXT, [line.replace("Bank rates", "Common myths") for line in TEXT])
    assert "claim:" in difference(TEXT, inserted(3, "Those who sell its shares claim:"))
    assert "a block quote" in difference(TEXT, [f"> {line}" if line == QUOTE else line for line in TEXT])
    assert "gone from there" in difference(TEXT, [*TEXT[:2], *TEXT[3:]])
    assert "Retracted" in difference(TEXT, TEXT, titles=("Rates", "Retracted: Rates"))


def test_of_a_table_caption_head_and_notes_are_context_and_other_rows_are_not() -> None:
    quote = "North | 5 | 6"
    for before, now in (
        ("millions", "thousands"),
        ("2019 | 2020", "2009 | 2010"),
        ("Source: the", "Estimates of"),
    ):
        changed = [line.replace(before, now) for line in ROWS]
        assert now in difference(ROWS, changed, quote)
    assert difference(ROWS, [line.replace("7 | 8", "7 | 9") for line in ROWS], quote) == ""


@pytest.mark.parametrize(
    "now",
    [
        [line.replace("Sport", "Jobs") for line in TEXT],
        [line.replace("3 May 2024", "9 June 2025, 10:30") for line in TEXT],
        [line.replace("12 comments", "15 comments") for line in TEXT],
        [line.replace("2024 The", "2025 The") for line in TEXT],
        inserted(0, "We use cookies to improve this site."),
        inserted(0, "Home", "News", "Jobs", "Weather"),
        inserted(2, "最終更新日:2024年5月3日"),
        inserted(2, "Dernière mise à jour le 3 mai 2024 à 10 h"),
        inserted(5, "Related", "Ten banks to watch in 2025", "The best banks."),
        [*TEXT, "This page was last edited on 3 May 2024, at 10:12."],
        [line.replace(" ", "  ") if line != QUOTE else line for line in TEXT],
        inserted(2, "Viewed 1,234 times"),
        inserted(3, "Share"),
    ],
)
def test_menus_dates_counters_and_links_are_no_context(now: list[str]) -> None:
    assert difference(TEXT, now) == ""


def test_paragraphs_far_from_a_quote_are_no_context() -> None:
    far = [*LONG[:150], "Rates", QUOTE, *LONG[150:]]
    assert difference(far, inserted(20, "A paragraph that is new.", into=far)) == ""
    assert difference(far, [*far, "A new section", "It tells of farms."]) == ""
    assert "This is not so." in difference(far, inserted(152, "This is not so.", into=far))


def test_a_date_with_words_of_its_own_is_no_mere_date() -> None:
    assert is_date("Last updated: 3 May 2024")
    assert is_date("Zuletzt aktualisiert: 3. Mai 2024 um 10:12 Uhr")
    assert not is_date("Updated on 3 May: the figure was wrong.")
    assert not is_date("Retracted on 3 May 2024")
    assert is_counter("12 comments")
    assert not is_counter("5 comments say that it was retracted")
