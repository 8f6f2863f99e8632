"""The authors that pages and files name are a list, each name as it was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.documents.authors import author_names, names_in, stored_names
from chiron_workers.documents.document import author_line


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Jane Smith", ["Jane Smith"]),
        ("By Jane Smith", ["Jane Smith"]),
        ("Jane Smith, Kim Jones", ["Jane Smith", "Kim Jones"]),
        ("Jane Smith and Kim Jones", ["Jane Smith", "Kim Jones"]),
        ("Jane Smith, Kim Jones & Lee Park", ["Jane Smith", "Kim Jones", "Lee Park"]),
        ("Jane Smith; Kim Jones", ["Jane Smith", "Kim Jones"]),
        ("Smith, Jane", ["Smith, Jane"]),
        ("Smith, J., Jones, K. L.", ["Smith, J.", "Jones, K. L."]),
        ("Smith, Jane; Jones, Kim", ["Smith, Jane", "Jones, Kim"]),
        (
            "García Márquez, Gabriel; De La Cruz, María Elena",
            ["García Márquez, Gabriel", "De La Cruz, María Elena"],
        ),
        ("García Márquez, Gabriel", ["García Márquez, Gabriel"]),
        ("De La Cruz, María", ["De La Cruz, María"]),
        ("van der Berg, Jan", ["van der Berg, Jan"]),
        ("da Silva Santos, Ana Maria", ["da Silva Santos, Ana Maria"]),
        ("Ortega y Gasset, José", ["Ortega y Gasset, José"]),
        ("José Ortega y Gasset", ["José Ortega y Gasset"]),
        ("José García y María López", ["José García", "María López"]),
        ("King, Martin Luther, Jr.", ["King, Martin Luther, Jr."]),
        (
            "Institute of Physics, Chinese Academy of Sciences",
            ["Institute of Physics, Chinese Academy of Sciences"],
        ),
        ("Jane Smith, Jane Smith", ["Jane Smith"]),
        ("Jane Smith et al.", ["Jane Smith"]),
        ("Smith, Jane; Jones, Kim, and others", ["Smith, Jane", "Jones, Kim"]),
        ("Jane Smith, MD, PhD", ["Jane Smith"]),
        ("Jane Smith, PhD and Kim Jones, M.D.", ["Jane Smith", "Kim Jones"]),
        ("Smith, M.D.", ["Smith, M.D."]),
        ("Jane Smith, Reuters", ["Jane Smith"]),
        ("Reuters", ["Reuters"]),
        ("Martin Luther King, Jr., Jane Smith", ["Martin Luther King, Jr.", "Jane Smith"]),
        ("Smith, Jane, Jones, Kim", ["Smith, Jane, Jones, Kim"]),
        ("Anna Bianchi e Luca Rossi", ["Anna Bianchi", "Luca Rossi"]),
        ("Silva e Souza, João", ["Silva e Souza, João"]),
        ("Jane Smith with Kim Jones • Lee Park", ["Jane Smith", "Kim Jones", "Lee Park"]),
        ("李伟，张三", ["李伟", "张三"]),
        ("https://example.org/people/7", []),
        ("", []),
        (" , ; ,, ", []),
    ],
)
def test_names_in_a_line_are_divided_where_it_allows_one_reading(line: str, names: list[str]):
    assert list(names_in(line)) == names


def test_a_stored_line_whose_pieces_may_be_one_name_stays_whole():
    assert stored_names("García Márquez; Gabriel") == ("García Márquez; Gabriel",)
    assert stored_names("Jane Smith; Kim Jones") == ("Jane Smith", "Kim Jones")
    assert stored_names("Smith, Jane") == ("Smith, Jane",)


def test_author_names_divides_no_item_of_a_list():
    assert author_names(["Smith, Jane and Kim", "Bell & Howell", " "]) == (
        "Smith, Jane and Kim",
        "Bell & Howell",
    )
    parts = [{"family": "van der Berg", "given": "Jan"}, {"name": "Acme"}, {"familyName": "Li"}, {"x": 1}, 7]
    assert author_names(parts) == ("van der Berg, Jan", "Acme", "Li")
    assert author_names({"name": "A. Hall"}) == ("A. Hall",)
    assert author_names(None) == author_names(7) == ()


def test_author_line_can_be_divided_again():
    for names in (["García Márquez, Gabriel", "Ann Lee"], ["Ann Lee", "Bo Ek"], ["Plato"]):
        assert list(names_in(author_line(names))) == names
    assert author_line(["Ann Lee", "Bo Ek"]) == "Ann Lee, Bo Ek"


@given(st.text(max_size=300))
def test_names_in_reads_any_line(line: str):
    for name in names_in(line):
        assert name.strip() == name != ""
        assert "\n" not in name
