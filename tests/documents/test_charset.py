import codecs
import random

import pytest
import webencodings

from chiron_workers.documents.charset import UndecodableError, decode, decode_listed, html_charset
from chiron_workers.documents.document import clean
from chiron_workers.documents.omissions import Omission, describe
from chiron_workers.documents.read_file import Part, read_file

GERMAN = "Die Größe der Monde ist für die Bahn „unerheblich“, schrieb man früher. Über Maße später mehr – für 5 €.\n"
JAPANESE = (
    "火星には二つの衛星があり、フォボスとダイモスと呼ばれている。どちらも小さな天体である。発見は十九世紀。\n"
)
CHINESE = "火星有两颗卫星,名为火卫一和火卫二。它们都很小,形状不规则,是美国天文学家在十九世纪发现的。\n"
RUSSIAN = "У Марса есть два спутника, Фобос и Деймос, и оба они очень малы. Их открыл американский астроном в XIX веке.\n"
TEXTS = {"german": GERMAN, "japanese": JAPANESE, "chinese": CHINESE, "russian": RUSSIAN}
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("mark", [True, False], ids=["marked", "unmarked"])
@pytest.mark.parametrize("charset", MARKS)
def test_unicode_is_read_with_and_without_its_mark(charset: str, mark: bool, text: str) -> None:
    assert decode((MARKS[charset] if mark else b"") + (3 * text).encode(charset)) == 3 * text


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("latin-1", GERMAN.replace("„", '"').replace("“", '"').replace("–", "-").replace("€", "Euro")),
        ("cp1252", GERMAN),
        ("shift-jis", JAPANESE),
        ("euc-jp", JAPANESE),
        ("gb18030", CHINESE),
        (
            "big5",
            CHINESE.translate(str.maketrans("两颗卫为们规则现发", "兩顆衛為們規則現發"))
            .replace("是美国", "是美國")
            .replace("纪", "紀")
            .replace("状", "狀")
            .replace("学", "學"),
        ),
        ("koi8-r", RUSSIAN),
        ("cp1251", RUSSIAN),
    ],
)
def test_the_charsets_of_old_files_are_found(charset: str, text: str) -> None:
    assert decode((5 * text).encode(charset)) == 5 * text


@pytest.mark.parametrize(
    "data", [bytes(5000), bytes(range(256)) * 20, b"\x7fELF" + bytes(60), random.Random(7).randbytes(5000)]
)
def test_binary_data_is_no_text(data: bytes) -> None:
    with pytest.raises(UndecodableError):
        decode(data)


PERSIAN = (
    "اسکله\u200cهای بندر از سال ۱۹۰۱ استفاده می\u200cشود و کشتی\u200cهای بسیاری به این بندر می\u200cآیند. "
)
KHMER = "កំពង់\u200bផែ\u200bស្ថិត\u200bនៅ\u200bឆ្នេរ\u200bខាង\u200bជើង\u200b។ "
HYPHENS = "The har\u00adbour of Ex\u00adam\u00adple\u00adton lies on the nor\u00adthern coast. "
RIGHT_TO_LEFT = "\u200fהנמל\u200f נמצא \u2067בצפון\u2069. "


@pytest.mark.parametrize(
    "text", [PERSIAN, KHMER, HYPHENS, RIGHT_TO_LEFT, "\ue001 Anchor \ue002 ", "a\ufeffb "]
)
def test_marks_that_show_nothing_make_no_text_binary(text: str) -> None:
    assert decode((50 * text).encode()) == 50 * text


@pytest.mark.parametrize(
    ("label", "charset", "text"),
    [
        ("iso-8859-1", "cp1252", "Give 10–20 mg; it costs € 30, the maker’s price."),
        ("us-ascii", "cp1252", "“Müller” – 5 €"),
        ("iso-8859-9", "cp1254", "İstanbul’un limanı ‘eski’ değil"),
        ("gb2312", "gb18030", "镕、喆和€都在"),
        ("x-sjis", "cp932", "①番の港は㈱である"),
        ("ks_c_5601-1987", "cp949", "햏은 똠방각하"),
        ("tis-620", "cp874", "ท่าเรือ “เก่า”"),
        ("iso-2022-jp", "iso2022_jp", "日本の港"),
        ("KOI8-R", "koi8-r", "Порт лежит на севере"),
        ("windows-1252", "utf-8", "Müller’s quay"),  # what is UTF-8 byte by byte is nothing else
        ("punycode", "utf-8", "Müller"),
    ],
)
def test_a_label_names_the_charset_that_browsers_read_under_it(label: str, charset: str, text: str) -> None:
    assert clean(decode((text + "\n").encode(charset), declared_charset=label)) == text + "\n"


def test_a_page_that_declares_wide_letters_in_narrow_ones_is_utf_8() -> None:
    for words in ("The quay is 240 m long.", "Müller built it.."):
        page = f'<html><head><meta charset="utf-16"></head><p>{words}</p></html>'.encode()
        assert html_charset(page) == ""
        assert words in decode(page, declared_charset=html_charset(page))


def test_xml_declares_its_charset_too() -> None:
    feed = '<?xml version="1.0" encoding="ISO-8859-2"?><rss>Łódź</rss>'.encode("iso-8859-2")
    assert "Łódź" in decode(feed, declared_charset=html_charset(feed))


def test_a_broken_byte_changes_no_other_sign() -> None:
    text = 40 * "Die Größe der Monde für die Bahn. "
    assert decode(text.encode().replace(b"\xc3\xb6", b"\xc3", 1)) == text.replace("ö", "\ufffd", 1)


def test_controls_of_latin_1_are_the_signs_of_windows() -> None:
    assert clean("Give 10\x9620 mg at \x80\xa030, \x93now\x94.") == "Give 10–20 mg at €\xa030, “now”."


@pytest.mark.parametrize("label", ["x-user-defined", "iso-8859-1"])
def test_a_label_of_single_bytes_decides_whatever_bytes_there_are(label: str) -> None:
    assert (
        clean(decode(b"caf\xe9 \x81\x8d 10\x9620 mg", declared_charset=label)) == "café \ufffd\ufffd 10–20 mg"
    )


def test_every_label_has_a_codec() -> None:
    for label in webencodings.LABELS:
        assert decode(b"a quay of 240 m", declared_charset=label) == "a quay of 240 m"


def test_few_signs_without_a_label_are_western_and_a_guess_is_listed() -> None:
    assert decode_listed(b"10\x9620 mg") == ("10–20 mg", (Omission("sign of a guessed charset", 1),))
    assert decode_listed("10–20 mg".encode()) == ("10–20 mg", ())
    content = read_file(b"Take 10\x9620 mg a day.", "a.txt", Part())
    assert (content.text, describe(content.left_out)) == (
        "Take 10–20 mg a day.",
        "1 sign of a guessed charset",
    )
