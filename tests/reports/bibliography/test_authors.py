import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_api.reports.bibliography.authors import Author, author_of
from chiron_workers.documents.authors import names_in


def split_authors(line: str) -> tuple[Author, ...]:
    return tuple(map(author_of, names_in(line)))


@pytest.mark.parametrize(
    ("name", "family", "given"),
    [
        ("García Márquez, Gabriel", "García Márquez", "Gabriel"),
        ("García Márquez, Gabriel José", "García Márquez", "Gabriel José"),
        ("De La Cruz, María", "De La Cruz", "María"),
        ("Van Rossum, Guido", "Van Rossum", "Guido"),
        ("Ortega y Gasset, José", "Ortega y Gasset", "José"),
        ("José Ortega y Gasset", "Ortega y Gasset", "José"),
        ("Smith Jones, Ann and Bo", "Smith Jones", "Ann and Bo"),
    ],
)
def test_author_of_takes_all_before_the_comma_for_the_family_name(name, family, given):
    assert author_of(name) == Author(family, given)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Jane Smith", [("Smith", "Jane")]),
        ("By Jane Smith", [("Smith", "Jane")]),
        ("Jane Smith, Kim Jones", [("Smith", "Jane"), ("Jones", "Kim")]),
        ("Jane Smith and Kim Jones", [("Smith", "Jane"), ("Jones", "Kim")]),
        ("Jane Smith, Kim Jones & Lee Park", [("Smith", "Jane"), ("Jones", "Kim"), ("Park", "Lee")]),
        ("Jane Smith; Kim Jones", [("Smith", "Jane"), ("Jones", "Kim")]),
        ("Smith, Jane", [("Smith", "Jane")]),
        ("Smith, J., Jones, K. L.", [("Smith", "J."), ("Jones", "K. L.")]),
        ("Smith, Jane; Jones, Kim", [("Smith", "Jane"), ("Jones", "Kim")]),
        ("J. R. R. Tolkien", [("Tolkien", "J. R. R.")]),
        ("Anna Müller und Jürgen Groß", [("Müller", "Anna"), ("Groß", "Jürgen")]),
        ("Jane Smith, Jane Smith", [("Smith", "Jane")]),
        ("José García y María López", [("García", "José"), ("López", "María")]),
    ],
)
def test_people_are_split_into_given_and_family_names(line, expected):
    assert [(author.family, author.given) for author in split_authors(line)] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Jan van der Berg", Author("Berg", "Jan", "van der")),
        ("van der Berg, Jan", Author("Berg", "Jan", "van der")),
        ("Ludwig van Beethoven", Author("Beethoven", "Ludwig", "van")),
        ("Martin Luther King Jr.", Author("King", "Martin Luther", "", "Jr.")),
        ("King, Martin Luther, Jr.", Author("King", "Martin Luther", "", "Jr.")),
    ],
)
def test_particles_and_suffixes_stand_apart(line, expected):
    assert split_authors(line) == (expected,)


@pytest.mark.parametrize(
    "line",
    [
        "World Health Organization",
        "Institute of Physics, Chinese Academy of Sciences",
        "Plato",
        "admin",
        "山田太郎",
        "NASA/JPL",
        "user_123",
        "editor@example.org",
        "The New York Times",
    ],
)
def test_what_is_no_name_of_a_person_stays_whole(line):
    assert split_authors(line) == (Author(line),)


def test_nobody_is_no_author():
    assert split_authors("") == split_authors(" , ; ,, ") == ()


@given(st.text(max_size=300))
def test_no_line_is_too_odd(line):
    for author in split_authors(line):
        assert author.family
        assert "\n" not in author.inverted
