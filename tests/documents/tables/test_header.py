import pytest
from documents.tables.test_query import ask, described, made
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.documents.tables.header import find_header


def header(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    found = find_header([line.split(",") for line in text.split("\n")])
    return found.names, found.rows


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("a,b\n1,2", ["a", "b"], [1]),
        ("Report 2023,,\n,,\nname,height,weight\nA,1,2\nB,3,4", ["name", "height", "weight"], [3]),
        ("Report\nSource: x\n\nname,height\nA,1\nB,2", ["name", "height"], [4]),
        ("2020,,\nname,a,b\nX,1,2\nY,2,3", ["name", "a", "b"], [2]),
        ("Report,Report,Report\nname,a,b\nX,1,2\nY,2,3", ["name", "a", "b"], [2]),
        ("shop,2023,,2024,\n,income,cost,income,cost\nEast,100,70,120,90",
         ["shop", "2023 income", "2023 cost", "2024 income", "2024 cost"], [1, 2]),
        (",Population,,\nCountry,2020,2021,2022\nA,100,200,300\nB,10,20,30",
         ["Country", "Population 2020", "Population 2021", "Population 2022"], [1, 2]),
        ("Title,,\nx,2023,\n,income,cost\nEast,1,2\nWest,3,4", ["x", "2023 income", "2023 cost"], [2, 3]),
        ("name,height,weight\n,m,kg\nA,1,2\nB,3,4", ["name", "height m", "weight kg"], [1, 2]),
        ("site,lead,flow\n,[mg/l],m3/s\nA,1,2\nB,3,4", ["site", "lead [mg/l]", "flow m3/s"], [1, 2]),
        ("shop,2023,2023\nshop,Q1,Q2\nA,1,2\nB,3,4", ["shop", "2023 Q1", "2023 Q2"], [1, 2]),
        ("Table 1\nSource: Office, 2021\nTown,Year,People\nA,2020,1500\nB,2021,1600", ["Town", "Year", "People"], [3]),
        ("Population of towns, 2020\n\nTown,Year,People\nA,2020,1500\nB,2021,1600", ["Town", "Year", "People"], [3]),
        ("Station:,Orm,,\n,,,\nTown,Year,People,Note\nA,2020,1500,x\nB,2021,1600,y", ["Town", "Year", "People", "Note"], [3]),
        ("Town,People,,Cars,\nName,2020,2021,2020,2021\nA,1,2,3,4\nB,5,6,7,8",
         ["Town Name", "People 2020", "People 2021", "Cars 2020", "Cars 2021"], [1, 2]),
        ("Members of the board\nName,Role\nAnn,Chair\nBob,Clerk", ["Name", "Role"], [2]),
    ],
)  # fmt: skip
def test_the_header_is_found_below_titles_and_may_be_two_rows(text, names, rows) -> None:
    assert header(text) == (tuple(names), tuple(rows))


@pytest.mark.parametrize(
    "text",
    [
        "name,height\nAnna,n/a\nBob,1.8",
        "name,height,\nAnna,unknown,\nBob,2,\nCy,3,",
        "name,city,\nAnna,Berlin,x\nBob,Rome,y",
        "x,2020,2021\nA,1,2",
        "topic\nIce, thick\nSnow\nRain",
        ",Plant,Bed\n1,Pea,2\n2,Rose,3",
        "id,name,note,note\n1,a,b,c\n2,d,e,f",
        "key,value\nTitle,\nAuthor,Bob",
        "a\nb\nc",
        # A first row of values without a number, and names above that are too few.
        "Town,Lead,Zinc\n,<5,<7\nB,2,3\nC,3,4",
        "Town,Lead,Zinc\n,n.a.,n.d.\nB,2,3\nC,3,4",
        "Town,Lead,Zinc\n,tr,tr\nB,2,3\nC,3,4",
        "Town,Lead,Zinc\n,below 5,~ 7\nB,2,3\nC,3,4",
        ",Lead,Zinc\nA,few,many\nB,2,3\nC,3,4",
        "Sample,Result,Result\nS1,neg,neg\nS2,1.5,2.5\nS3,2.0,3.5",
        "Sample,Result,Result\n,faint,strong\nS2,1.5,2.5\nS3,2.0,3.5".replace("faint,strong", "faint,faint"),
        "Sample,Result,\nS1,faint,strong\nS2,1.5,2.5\nS3,2.0,3.5",
        "Town\nA,2020\nB,2021",
        "Town\nA,n.d.\nB,2021\nC,2022",
        "Town\nA,Orm\nB,Ulv",
        "Town,\nA,Orm\nB,Ulv",
        "Menge\n1,5\n2,5",
        "Menge\n\n1,5\n2,5",
        "name,city\nAnna,5,x\nBob,6,y",
        "name,city\nAnna,Berlin,x\nBob,Rome,y",
    ],
)
def test_the_first_row_is_the_header_where_nothing_says_otherwise(text: str) -> None:
    assert header(text)[1] == (1,)


@given(st.lists(st.lists(st.sampled_from(["", "a", "1", "2020", "1.5", "%", " "]), max_size=4), max_size=6))
def test_any_rows_have_a_header(rows: list[list[str]]) -> None:
    found = find_header(rows)
    assert 1 <= found.last_row <= max(1, len(rows))


def test_a_table_below_titles_keeps_all_its_rows_and_says_where_its_names_are() -> None:
    text = "Harbours of the north\n\nname;berths;depth\nA;12;7,5\nB;3;11,2\n"
    [table] = described(made(text))
    assert [column.name for column in table.columns] == ["name", "berths", "depth"]
    assert (
        table.notes[0] == "The names of the columns are those of row 3. Above stands: Harbours of the north."
    )
    answer = ask(made(text), "select sum(berths), count(*) from a")
    assert answer.rows == [[15, 2]]
    assert any("row 3" in note for note in answer.notes)


def test_a_title_with_a_comma_is_told_whole() -> None:
    [table] = described(made("Source: Office, 2021\n\nTown,Year,People\nA,2020,1500\nB,2021,1600\n"))
    assert table.notes == ["The names of the columns are those of row 3. Above stands: Source: Office, 2021."]


def test_one_column_of_numbers_with_commas_is_not_cut() -> None:
    [table] = described(made("Menge\n1,5\n2,5\n"))
    assert [(column.name, column.samples) for column in table.columns] == [("Menge", ["1,5", "2,5"])]
    assert "commas before decimals" in table.notes[0]
