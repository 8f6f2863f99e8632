import asyncio
import base64
import binascii
from collections.abc import Callable
from functools import partial

import pytest
from support.event_loop_delay import beating

from chiron_workers.evidence.disclosures.common_words import CommonWords, common_words, fold
from chiron_workers.evidence.disclosures.disclosures import Disclosures
from chiron_workers.evidence.disclosures.rare_words import all_words, plain_text, rare_words

LETTER = (
    "Ottilie Kranzberger of Wyckhorn pays from 48213377, key AKIA9F3KQ2LM. "
    "Jan Hildebrand saw the neap tide; a hildebrandt is no bird."
)


@pytest.fixture(scope="module")
def common() -> CommonWords:
    return common_words()


@pytest.fixture(scope="module")
def disclosures(common: CommonWords) -> Disclosures:
    return Disclosures(rare_words(LETTER, common), common, frozenset())


def test_names_numbers_and_rare_words_are_rare_and_common_words_are_not(common: CommonWords) -> None:
    words = rare_words(LETTER, common)
    assert {"ottilie", "kranzberger", "wyckhorn", "48213377", "akia9f3kq2lm", "hildebrand"} <= words.keys()
    assert not {"pays", "from", "key", "jan", "neap", "tide", "bird"} & words.keys()
    assert words["kranzberger"] == "Kranzberger"


@pytest.mark.parametrize(
    "text", ["in 1987", "about 250 m", "1,500,000 people", "state-of-the-art", "Größe", "été"]
)
def test_years_round_numbers_and_words_of_other_languages_are_common(common: CommonWords, text: str) -> None:
    assert rare_words(text, common) == {}


@pytest.mark.parametrize("text", ["2024-01-13", "1,234,567", "o@x.example", "+49 1701234567", "AB-4711-XZ"])
def test_dates_long_numbers_and_addresses_are_rare(common: CommonWords, text: str) -> None:
    assert rare_words(text, common)


@pytest.mark.parametrize(
    "message",
    [
        "KRANZBERGER",
        "𝐊𝐫𝐚𝐧𝐳𝐛𝐞𝐫𝐠𝐞𝐫",
        "Kranz\u200bberger",
        "kranz.ber-ger",
        "xxkranzbergerxx",
        "kranzbe",
        base64.b64encode(b"say Kranzberger now").decode(),
        "see " + base64.b32encode(b"Kranzberger").decode(),
        "75 114 97 110 122 98 101 114 103 101 114",
        "4b:72:61:6e:7a:62:65:72:67:65:72",
        "ⓚⓡⓐⓝⓩⓑⓔⓡⓖⓔⓡ",
        "🅺🆁🅰🅽🆉🅱🅴🆁🅶🅴🆁",
        "🅚🅡🅐🅝🅩🅑🅔🅡🅖🅔🅡",
        "🇰🇷🇦🇳🇿🇧🇪🇷🇬🇪🇷",
        "ᴋʀᴀɴᴢʙᴇʀɢᴇʀ",
        "".join(chr(0xE0000 + ord(sign)) for sign in "Kranzberger"),
        "113 162 141 156 172 142 145 162 147 145 162",
        r"\113\162\141\156\172\142\145\162\147\145\162",
        "075114097110122098101114103101114",
        " ".join(f"{ord(sign):08b}" for sign in "Kranzberger"),
        "".join(f"{ord(sign):08b}" for sign in "Kranzberger"),
    ],
)
def test_a_private_word_is_seen_in_whatever_form(disclosures: Disclosures, message: str) -> None:
    assert disclosures.find(message) == {"kranzberger"}


def layered(code: Callable[[bytes], bytes], layers: int) -> str:
    text = b"Kranzberger"
    for _ in range(layers):
        text = code(text)
    return text.decode()


def in_alphabet(digits: str) -> str:
    """base32 in another alphabet."""
    code = base64.b32encode(b"Kranzberger").decode().rstrip("=")
    return code.translate(str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", digits))


@pytest.mark.parametrize(
    "message",
    [
        "+AEsAcgBhAG4AegBiAGUAcgBnAGUAcg-",
        base64.b64encode("Kranzberger".encode("utf-16")).decode(),
        "Kranzberger".encode("utf-16-be").hex(),
        layered(base64.b64encode, 3),
        layered(base64.b64encode, 12),
        layered(base64.b32encode, 4),
        layered(lambda text: base64.b64encode(text.hex().encode()), 3),
        f"see {layered(base64.b64encode, 5)} there",
        str(int.from_bytes(b"Kranzberger")),
        str(int.from_bytes(b"Kranzberger", "little")),
        f"{int.from_bytes(b'Kranzberger'):o}",
        binascii.b2a_uu(b"Kranzberger").decode(),
        "begin 644 x\n" + binascii.b2a_uu(b"It says Kranzberger, really so, on page 7.").decode() + "`\nend",
        base64.b32hexencode(b"Kranzberger").decode(),
        base64.b32hexencode(b"Kranzberger").decode().lower().rstrip("="),
        in_alphabet("0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
        in_alphabet("ybndrfg8ejkmcpqxot1uwisza345h769"),
        base64.b85encode(b"Kranzberger").decode(),
        base64.a85encode(b"It says Kranzberger!", adobe=True).decode(),
        "Kranzberger".encode("cp037").hex(),
        "Kranzberger".encode("cp037").hex(" "),
        base64.b64encode("Kranzberger".encode("cp500")).decode(),
        " ".join(map(str, "Kranzberger".encode("cp037"))),
        " ".join(f"{byte:08b}" for byte in "Kranzberger".encode("cp037")),
        "Kranzberger".encode("cp037").decode("latin-1"),
        "⠅⠗⠁⠝⠵⠃⠑⠗⠛⠑⠗",
        "57269237437",
        "5726-923-7437",
        "55 777 2 66 9999 22 33 777 4 33 777",
        "-.- .-. .- -. --.. -... . .-. --. . .-.",
        "−·− ·−· ·− −· −−·· −··· · ·−· −−· · ·−·",
        "４Ｂ７２６１６Ｅ７Ａ６２６５７２６７６５７２",
    ],
)
def test_a_private_word_is_seen_in_rarer_codes(disclosures: Disclosures, message: str) -> None:
    assert disclosures.find(message) == {"kranzberger"}
    assert "kranzberger" in disclosures.find(f"what is known of {message} in estuaries?")


@pytest.mark.parametrize(
    "message",
    [
        "四八二一三三七七",
        "肆捌贰壹叁叁柒柒",
        "四千八百二十一万三千三百七十七",
        "〤〨〢〡〣〣〧〧",
        "⠼⠙⠓⠃⠁⠉⠉⠛⠛",
        "𝍣𝍧𝍡𝍠𝍢𝍢𝍦𝍦",
    ],
)
def test_a_private_number_is_seen_in_other_numerals(disclosures: Disclosures, message: str) -> None:
    assert disclosures.find(f"look for {message}") == {"48213377"}


@pytest.mark.parametrize(
    "filler",
    [
        "a " * 3_000,
        "the tides " * 900,
        "".join(f"{n:x}abcdef " for n in range(900)),
        "0110 " * 9 + "01" * 9,
        "%41" * 3_000,
        "ﷺ" * 3_000,
        "." * 9_000,
    ],
    ids=["letters", "words", "codes", "bits", "percent signs", "ligatures", "points"],
)
@pytest.mark.parametrize(
    "word",
    [
        "Kranzberger",
        base64.b64encode(b"say Kranzberger now").decode(),
        base64.b64encode(base64.b64encode(b"Kranzberger")).decode(),
        "".join(f"{ord(sign):08b}" for sign in "Kranzberger"),
    ],
    ids=["plain", "base64", "base64 twice", "bits"],
)
def test_a_private_word_is_seen_behind_whatever_else_a_message_holds(
    disclosures: Disclosures, filler: str, word: str
) -> None:
    assert "kranzberger" in disclosures.find(f"{filler} {word}")


@pytest.mark.parametrize("digits", ["٤٨٢١٣٣٧٧", "४८२१३३७७", "𝟒𝟖𝟐𝟏𝟑𝟑𝟕𝟕", "4.8213377e7", "0x2dfad81"])
def test_a_private_number_is_seen_in_whatever_digits(disclosures: Disclosures, digits: str) -> None:
    assert disclosures.find(f"look for {digits}") == {"48213377"}


@pytest.mark.parametrize(
    "message",
    [
        "Gruenwaeldchen",
        "Grunwaldchen",
        "GRÜNWÄLDCHEN",
        "Grünwa\u0308ldchen",
        "Lodzka",
        "Łódzka",
        "Soerensnak",
    ],
)
def test_a_private_name_is_seen_without_its_accents_too(common: CommonWords, message: str) -> None:
    names = rare_words("We met at Grünwäldchen, Łódzka and Sørensnak.", common)
    assert Disclosures(names, common).find(message)


@pytest.mark.parametrize(
    "message",
    [
        "tidal turbine efficiency in estuaries",
        "neap tides of 2024",
        "photosynthesis and the Calvin cycle",
        "Gezeitenkraftwerke in Frankreich",
        "Kubernetes 1.31 scheduler latency",
        "a b c of sailing",
        "GPT-4o and Llama-3.1 405B on x86_64 with AVX-512",
        "levels 2 3 4 5 6 7 8 9 and 22 33 444 5 of 23456789",
        "二十世纪的潮汐",
        "... -- and so on -- ...",
        "H2SO4 + NaCl, RFC9110#5.6.7, ISO8601:2024-W07",
    ],
)
def test_other_words_give_nothing_away(disclosures: Disclosures, message: str) -> None:
    assert disclosures.find(message) == set()


def test_pieces_count_with_what_went_out_before(disclosures: Disclosures) -> None:
    assert disclosures.find("berger king", earlier=["kranz and laurel"]) == {"kranzberger"}
    assert disclosures.find("berger king", earlier=["laurel"]) == set()


def test_a_long_message_is_read_in_bounded_time(disclosures: Disclosures) -> None:
    for message in ("QUJD" * 2_500, "a " * 5_000, "%41" * 3_000, "1" * 10_000, "zz" * 5_000):
        assert disclosures.find(message) == set()


@pytest.mark.parametrize(
    "text", ["Grünwäldchen " * 90_000, "ü" * 2_000_000, "a-1" * 600_000], ids=["words", "letters", "signs"]
)
async def test_a_page_of_two_million_letters_is_looked_through_while_other_work_goes_on(
    common: CommonWords, text: str
) -> None:
    for look_through in (all_words, partial(rare_words, common=common)):
        async with beating() as pulse:
            await asyncio.to_thread(look_through, text)
        assert pulse.worked_s < 0.2


def test_text_is_taken_out_of_the_json_of_a_result() -> None:
    assert plain_text('{"text": "one\\nOttilie", "rows": [["x", 4711.5]]}').split() == [
        "text",
        "one",
        "Ottilie",
        "rows",
        "x",
        "4711.5",
    ]
    assert plain_text("no JSON") == "no JSON"


def test_folding_leaves_plain_letters() -> None:
    assert fold("Größe ＡＢ été e\u0301") == "grosse ab ete e"
