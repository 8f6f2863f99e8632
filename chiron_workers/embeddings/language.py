import unicodedata

SAMPLE_CHARS = 2_000
FOREIGN_SHARE = 0.3
# How the names of letters begin that text in the Latin script carries, 3 µm and 1º among it.
LATIN = ("LATIN", "FULLWIDTH LATIN", "MICRO", "FEMININE ORDINAL", "MASCULINE ORDINAL")


def looks_foreign(text: str) -> bool:
    """Whether more than three in ten letters, of the first 2,000 characters, are outside the Latin script.

    The embedded model serves such text badly. So it does text in other languages of the Latin script, which this
    does not notice: it looks at the script, not at the language.
    """
    letters = [character for character in text[:SAMPLE_CHARS] if character.isalpha()]
    outside = sum(not unicodedata.name(letter, "").startswith(LATIN) for letter in letters)
    return outside > FOREIGN_SHARE * len(letters)
