import pytest

from chiron_workers.language.detection import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tides are raised by the Moon.", "english"),
        ("Die Gezeiten werden vom Mond verursacht.", "german"),
        ("Les marées sont dues à la Lune et au Soleil.", "french"),
        ("Las mareas son causadas por la Luna.", "spanish"),
        ("As marés são causadas pela Lua e pelo Sol.", "portuguese"),
        ("Le maree sono causate dalla Luna.", "italian"),
        ("Het getij wordt veroorzaakt door de maan.", "dutch"),
        ("Tidvattnet orsakas av månen och solen.", "swedish"),
        ("Gelgitler Ay ve Güneş tarafından oluşturulur.", "turkish"),
        ("Pływy są wywoływane przez Księżyc.", "simple"),
        ("Приливы вызываются притяжением Луны.", "russian"),
        ("Припливи спричиняє тяжіння Місяця.", "simple"),
        ("Οι παλίρροιες προκαλούνται από τη Σελήνη.", "greek"),
        ("المد والجزر بسبب القمر", "arabic"),
        ("ज्वार चंद्रमा के कारण आते हैं।", "hindi"),
        ("潮汐是由月球引起的。", "simple"),
        ("潮の満ち引きは月によって起こる。", "simple"),
        ("น้ำขึ้นน้ำลงเกิดจากดวงจันทร์", "simple"),
        ("LCROSS, Cabeus", None),
        ("E = mc² 299 792 458 m/s", None),
        ("", None),
    ],
)
def test_a_text_tells_its_language_by_script_letters_and_short_words(text: str, language: str | None) -> None:
    assert detect_language(text) == language
