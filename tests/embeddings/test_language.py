import pytest

from chiron_workers.embeddings import looks_foreign


@pytest.mark.parametrize(
    "text",
    [
        "An exception is raised.",
        "",
        "1,000 + 2 = 1,002",
        "3 µm, α and β decay, the 1º naïve café",
        "print(x)",
    ],
)
def test_text_in_the_latin_script_is_not_foreign(text):
    assert not looks_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "Исключение возникает при ошибке.",
        "例外が発生します。",
        "예외가 발생합니다",
        "يتم رفع استثناء",
        "अपवाद उठाया जाता है",
        "Python 的异常处理机制非常灵活",
    ],
)
def test_text_in_other_scripts_is_foreign(text):
    assert looks_foreign(text)
