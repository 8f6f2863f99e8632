import codecs
import random

import pytest

from chiron_workers.documents.charset import UndecodableError, decode

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
