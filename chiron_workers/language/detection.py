"""Which language a text is in, by its letters and its short words."""

import re
from functools import lru_cache

from chiron_workers.language.function_words import FUNCTION_WORDS
from chiron_workers.language.scripts import Script, count_scripts

ENGLISH = "english"
NO_STEMS = "simple"  # a language that Postgres has no stems for
SAMPLE_CHARS = 2_000
SCORE_MIN = 0.9  # about one short word that no other language has
LEAD_MIN = 1.2  # over the language that comes second
WORD = re.compile(r"[^\W\d_]+")
BY_SCRIPT = {
    Script.CYRILLIC: "russian",
    Script.ARABIC: "arabic",
    Script.GREEK: "greek",
    Script.ARMENIAN: "armenian",
    Script.TAMIL: "tamil",
    Script.DEVANAGARI: "hindi",
}
# Letters that hardly any other language of the script has; a text with some is taken to be in that language.
LETTERS = {
    Script.LATIN: {
        "german": "ß",
        "spanish": "ñ¿¡",
        "portuguese": "ãõ",
        "turkish": "ğı",
        "hungarian": "őű",
        "romanian": "ăț",
        "lithuanian": "ėųį",
        NO_STEMS: "łżźśęąřůěđơưạảấầậếềệộờợứừ",
    },
    Script.CYRILLIC: {"serbian": "ђјљњћџ", NO_STEMS: "іїєґў"},
    Script.ARABIC: {NO_STEMS: "پچژگکیٹڈ"},
}
LETTER_SCORE = 0.5
# Most of the short words of these are those of a language with many more readers.
SMALLER = ("catalan", "irish", "basque", "norwegian", "lithuanian", "serbian")
SMALLER_FACTOR = 0.8


def _weigh_words() -> dict[str, dict[str, float]]:
    """Languages by word, each with what the word speaks for it: the less, the more languages have it."""
    languages: dict[str, set[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words.split():
            languages.setdefault(word, set()).add(language)
    return {
        word: {
            language: (SMALLER_FACTOR if language in SMALLER else 1) / len(speakers) for language in speakers
        }
        for word, speakers in languages.items()
    }


WEIGHTS = _weigh_words()


def detect_language(text: str) -> str | None:
    """The language that most of a text is in, by the name of its text search configuration in Postgres.

    `simple` stands for one without stems there: Chinese, Thai, Polish. None where the text does not tell: a name, a
    formula, a few words of the Latin script. Of a long text its first 2,000 characters count.
    """
    return _detect(text[:SAMPLE_CHARS])


@lru_cache(maxsize=64)  # whoever stores a text asks again
def _detect(text: str) -> str | None:
    sample = text.lower()
    scripts = count_scripts(sample)
    if not scripts:
        return None
    [(script, _)] = scripts.most_common(1)
    match script:
        case Script.LATIN | Script.CYRILLIC | Script.DEVANAGARI:
            return _by_words(sample, script) or BY_SCRIPT.get(script)
        case Script.ARABIC if _by_letters(sample, script):
            return NO_STEMS
        case _:
            return BY_SCRIPT.get(script, NO_STEMS)


def _by_words(sample: str, script: Script) -> str | None:
    scores: dict[str, float] = {}
    for word in WORD.findall(sample):
        for language, weight in WEIGHTS.get(word, {}).items():
            scores[language] = scores.get(language, 0) + weight
    for language, score in _by_letters(sample, script).items():
        scores[language] = scores.get(language, 0) + score
    if not scores:
        return None
    language = max(scores, key=lambda name: scores[name])
    second = max((score for name, score in scores.items() if name != language), default=0)
    return language if scores[language] >= max(SCORE_MIN, LEAD_MIN * second) else None


def _by_letters(sample: str, script: Script) -> dict[str, float]:
    counts = {
        language: sum(map(sample.count, letters)) for language, letters in LETTERS.get(script, {}).items()
    }
    return {language: count * LETTER_SCORE for language, count in counts.items() if count}
