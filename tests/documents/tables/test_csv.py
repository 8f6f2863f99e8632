import pytest

from chiron_workers.documents.tables.csv import detect_delimiter


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("Jahr;Menge, t;Preis, EUR\n2020;1,5;0,3\n2021;2,5;0,4\n", ";"),
        ("Jahr, x;Menge, t;Preis, EUR\n1,5;2,5;3,5\n1,5;2,5;3,5\n", ";"),
        ("Name, Ort;Alter, Jahre\nHans, Ulm;12,5\nEva, Bonn;13,5\n", ";"),
        ("a|b, c|d, e\n1,5|2,5|3\n1,5|2,5|4\n", "|"),
        ("a\tb, c\n1,2\t3\n5,6\t7\n", "\t"),
        ("id,tags\n1,a;b\n2,c;d\n", ","),
        ("id,tags; more\n1,a; b\n2,c; d\n", ","),
        ("name,when|what\nx,2020-01-02|3\ny,2020-01-02|4\n", ","),
        ('a;b\n"x, y";"z, w"\n', ";"),
        ("Bericht, 2020\n\nJahr;Menge, t\n2020;1,5\n2021;2,5\n", ";"),
        ("Bericht, 2020\nJahr;Menge, t\n2020;1,5\n2021;2,5\n", ";"),
        ("Jahr, x;Menge, t\n2020;1,5\n2021;2,5;x\n2022;3,5\n", ";"),
        ("id,tags\nx,a;b;c\ny,c;d;e\n", ","),
        ("a,b\n1,2\n", ","),
        ("word\nother\n", ","),
    ],
)
def test_a_tie_of_delimiters_is_decided_by_the_cells(text: str, delimiter: str) -> None:
    assert detect_delimiter(text) == delimiter
