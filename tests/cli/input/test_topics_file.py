import json
from datetime import UTC, datetime

import pytest

from chiron_api.cli.input.topics_file import read_topics
from chiron_workers.errors import UsageError
from chiron_workers.states import Effort, ThinkingMode


@pytest.fixture
def file(tmp_path):
    def write(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def topics(path: str) -> list[str]:
    return [found.topic.topic for found in read_topics(path)]


def test_a_text_file_has_one_topic_a_line_and_comments(file):
    path = file("t.txt", "\ufeff# my topics\r\n\r\n Generators \r\nC# and F#\n")
    assert topics(path) == ["Generators", "C# and F#"]


def test_a_csv_has_a_topic_column_and_what_a_topic_has_of_its_own(file):
    path = file("t.csv", 'Topic,priority,role,subject\n"Ducks, typed",3,research,\n\nPlain,,,Birds\n')
    first, second = [found.topic for found in read_topics(path)]
    assert (first.topic, first.priority, first.role, first.subject) == ("Ducks, typed", 3, "research", None)
    assert (second.topic, second.priority, second.subject) == ("Plain", None, "Birds")


def test_a_topic_may_have_thinking_and_effort_of_its_own(file):
    path = file("t.csv", "topic,thinking,effort\nA,between_tools,xhigh\nB,,\n")
    first, second = [found.topic for found in read_topics(path)]
    assert (first.thinking, first.effort) == (ThinkingMode.BETWEEN_TOOLS, Effort.XHIGH)
    assert (second.thinking, second.effort) == (None, None)


def test_jsonl_has_strings_or_objects(file):
    path = file("t.jsonl", '"Plain"\n\n{"topic": "With more", "max_turns": 7, "model": "offline"}\n')
    first, second = [found.topic for found in read_topics(path)]
    assert first.topic == "Plain"
    assert (second.topic, second.max_turns, second.model) == ("With more", 7, "offline")


def test_yaml_has_strings_or_mappings(file):
    assert topics(file("t.yaml", "# c\n- Plain\n- topic: With more\n  priority: 2\n")) == [
        "Plain",
        "With more",
    ]
    assert topics(file("t.json", '["Plain", {"topic": "With more"}]')) == ["Plain", "With more"]


def test_json_is_read_as_json_has_it(file):
    names = ["Why do harbours use \u2693 and \U0001f30a?", "What is a polynya \U0001f9ca?", "tab\tand \u2028"]
    entries = [{"topic": names[0]}, names[1], {"topic": f"{names[2]} end", "priority": 2}]
    for indent in (None, 2):
        path = file("t.json", json.dumps(entries, indent=indent))
        assert topics(path) == [*names[:2], f"{names[2]} end"]
    assert [entry.location.rpartition(" ")[2] for entry in read_topics(path)] == ["2", "5", "6"]


def test_a_line_separator_parts_no_topic(file):
    text = "What did it say\u2028about ice?\nHow thick was\x85the ice?\nWhat is a polynya?\n"
    assert topics(file("t.txt", text)) == text.strip().split("\n")


def test_a_number_sign_begins_a_comment_only_with_a_space_behind_it(file):
    text = "# list\n#\n#1 cause of wrecks\n#MeToo and the fishing industry\nC# bindings\n"
    for name in ("t.txt", "t.md"):
        assert topics(file(name, text)) == [
            "#1 cause of wrecks",
            "#MeToo and the fishing industry",
            "C# bindings",
        ]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_csv_is_parted_by_what_parts_its_first_line(file, name, delimiter):
    lines = [
        ["Subject", "Topic", "priority"],
        ["Birds", '"Compare A; B, C"', "3"],
        ["Sea", '"Ice, thick; or not"', ""],
    ]
    path = file(name, "\n".join(map(delimiter.join, lines)))
    first, second = [entry.topic for entry in read_topics(path)]
    assert (first.topic, first.subject, first.priority) == ("Compare A; B, C", "Birds", 3)
    assert (second.topic, second.subject) == ("Ice, thick; or not", "Sea")


def test_a_semicolon_in_a_topic_parts_nothing(file):
    assert topics(file("t.csv", "topic\nCompare A; B\n")) == ["Compare A; B"]
    assert topics(file("t.csv", "topic,subject\nCompare A; B,X\n")) == ["Compare A; B"]
    assert topics(file("t.txt", "Compare A; B\n")) == ["Compare A; B"]


def test_a_line_of_a_file_that_has_topics_alone_is_one_topic(file):
    assert topics(file("t.csv", 'topic\nCompare A, B and C\n"D, E"\n')) == ["Compare A, B and C", "D, E"]


def test_excel_says_in_the_first_line_what_parts_the_cells(file):
    path = file("t.csv", "sep=;\r\ntopic;subject\r\nCompare A, B;Sea\r\n")
    [entry] = read_topics(path)
    assert (entry.topic.topic, entry.topic.subject, entry.location) == (
        "Compare A, B",
        "Sea",
        f"{path}, line 3",
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "topic,ready_at\nA,2026-03-01T09:30Z\nB,\n"),
        ("t.jsonl", '{"topic": "A", "ready_at": "2026-03-01T11:30+02:00"}\n"B"\n'),
        ("t.yaml", "- topic: A\n  ready_at: 2026-03-01T09:30:00Z\n- B\n"),
    ],
)
def test_a_topic_may_start_at_a_time_of_its_own(file, name, content):
    first, second = [found.topic for found in read_topics(file(name, content))]
    assert (first.ready_at, second.ready_at) == (datetime(2026, 3, 1, 9, 30, tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.txt", "", "t.txt holds no topic"),
        ("t.txt", "# only\n", "t.txt holds no topic"),
        ("t.txt", b"one\ntwo \xff\n", "t.txt, line 2: this is no UTF-8"),
        ("t.txt", b"one\n\0\x01\x02", "t.txt, line 2: this is a binary file"),
        ("t.pdf", "one", "not from .pdf"),
        ("t.csv", "", "t.csv holds no topic"),
        ("t.csv", "topic\n", "t.csv holds no topic"),
        ("t.csv", "Generators\nDucks\n", "t.csv, line 1: the first line must name the columns"),
        (
            "t.csv",
            "topic,colour\nA,red\n",
            "t.csv, line 2: 'colour' is not known; a topic can have topic, subject",
        ),
        (
            "t.csv",
            "topic,priority\nA,1\nB,high\n",
            "t.csv, line 3: priority must be a whole number .got 'high'",
        ),
        ("t.csv", "topic,role\nA,x,y\n", "t.csv, line 2: there are more cells than columns"),
        (
            "t.csv",
            "topic;role\nA; B;x\n",
            "line 2: there are more cells than columns; put quotes around a cell that has ';'",
        ),
        ("t.csv", 'topic\nA\n"B\n', "t.csv, line 3: this is no CSV"),
        ("t.csv", "topic,budget_usd\nA,much\n", "t.csv, line 2: budget_usd must be an amount, such as 2.50"),
        ("t.csv", "topic,budget_usd\nA,nan\n", "t.csv, line 2: budget_usd must be an amount, such as 2.50"),
        ("t.jsonl", '"A"\n{"topic": }\n', "t.jsonl, line 2: this is no JSON"),
        (
            "t.jsonl",
            '{"topic": "A", "ready_at": 5}\n',
            "t.jsonl, line 1: ready_at must be a time such as .* .got 5",
        ),
        (
            "t.csv",
            "topic,ready_at\nA,soon\n",
            "t.csv, line 2: ready_at must be a time such as .* .got 'soon'",
        ),
        ("t.jsonl", "[" * 100_000, "t.jsonl, line 1: this is no JSON"),
        ("t.jsonl", '{"subject": "x"}\n', "t.jsonl, line 1: The topic is missing"),
        ("t.jsonl", '"A"\n17\n', "t.jsonl, line 2: a topic is text or a mapping"),
        ("t.json", '[\n"A",\n]', "t.json, line [23]: this is no JSON"),
        ("t.json", '["A"] x', "t.json, line 1: this is no JSON: Extra data"),
        ("t.json", '{"topic": "A"}', "t.json, line 1: this must be a list .* is .jsonl"),
        ("t.json", "[]", "t.json holds no topic"),
        ("t.json", " ", "t.json holds no topic"),
        ("t.json", "[" * 100_000, "t.json, line 1: this is no JSON"),
        ("t.json", '[\n"A",\n\n17]', "t.json, line 4: a topic is text or a mapping"),
        ("t.yaml", "topic: A\n", "t.yaml, line 1: this must be a list"),
        ("t.yaml", "- A\n- [\n", "t.yaml, line 3: this is no YAML"),
        ("t.yaml", "- A\n- 1984\n", "t.yaml, line 2: a topic is text or a mapping"),
        ("t.yaml", "- topic: 1984\n", "t.yaml, line 1: topic must be text .got 1984.; put it in quotes"),
        ("t.yaml", "- A\n- B: x\n", "t.yaml, line 2: 'B' is not known"),
        ("t.yaml", "- !!python/object:os.system x\n", "t.yaml, line 1: this is no YAML"),
        ("t.yaml", "- " + "[" * 5_000, "t.yaml"),
        ("t.yaml", "- A\n- \x07\n", "t.yaml, line 2: this is a binary file"),
    ],
)
def test_what_cannot_be_understood_is_named_with_file_and_line(file, name, content, message):
    with pytest.raises(UsageError, match=message):
        read_topics(file(name, content))


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(UsageError, match=r"/nowhere/t\.txt cannot be read: No such file"):
        read_topics("/nowhere/t.txt")
