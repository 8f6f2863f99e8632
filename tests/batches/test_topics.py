import pytest

from chiron_workers.batches.duplicates import duplicate_warnings, repeated_topics
from chiron_workers.batches.submit import NewRun, check_run
from chiron_workers.batches.topics import comparable, invisible_characters, text_topics
from chiron_workers.errors import UsageError

SEPARATORS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


def run(topic: str, **options) -> NewRun:
    fields = {"role": "research", "subject": "Python", "model": "offline", "max_turns": 5}
    return NewRun(topic, **(fields | options))


def topics(text: str) -> list[str]:
    return [topic for topic, _ in text_topics(text)]


@pytest.mark.parametrize("separator", SEPARATORS)
def test_text_topics_end_at_line_feeds_alone(separator: str):
    assert topics(f"How thick was{separator}the ice?\nB\r\n") == [f"How thick was{separator}the ice?", "B"]


def test_text_topics_leave_out_comments_and_no_topic_that_begins_with_a_number_sign():
    text = "# my list\n#\n  # indented\n#\tfor later\n## Part two\n#1 cause of wrecks\n#MeToo at sea\nC# and F#\n#\n"
    numbered_topics = [("## Part two", 5), ("#1 cause of wrecks", 6), ("#MeToo at sea", 7), ("C# and F#", 8)]
    assert list(text_topics(text)) == numbered_topics


@pytest.mark.parametrize(
    ("topic", "points"),
    [
        ("\u200b", "U+200B"),
        ("\ufeff \u00ad", "U+FEFF, U+0020, U+00AD"),
        ("\u2800\u3164", "U+2800, U+3164"),
        ("\u202e\u2066\u2069\u200e\u200f\u2060", "U+202E, U+2066, U+2069, U+200E, U+200F, …"),
    ],
)
def test_check_run_refuses_a_topic_that_nobody_can_see(topic: str, points: str):
    assert invisible_characters(topic) == points
    with pytest.raises(UsageError, match="The topic is empty"):
        check_run(run(topic))


@pytest.mark.parametrize("topic", ["a", "می‌خواهم", "🌊", "?", "１", "\u0e01\u0e33"])
def test_check_run_accepts_a_topic_of_any_script(topic: str):
    assert invisible_characters(topic) == ""
    check_run(run(topic))


def test_comparable_ignores_case_spacing_and_what_cannot_be_seen():
    same = [
        "What is  ice?",
        "what is\u00a0ice?",
        "\ufeffWhat is\u2028ice?",
        "What is i\u00adce?",
        "What is ice",
        "what is ice ?!",
    ]
    assert len({comparable(topic) for topic in same}) == 1
    assert comparable("x²") != comparable("x2")
    assert comparable("C++") != comparable("C")
    assert comparable("?") != comparable("!")
    assert comparable("cafe\u0301") == comparable("café")


def test_duplicate_warnings_name_the_topics_that_are_the_same():
    runs = [
        run("Ice"),
        run("Snow"),
        run("ice "),
        run("Ice", model="other"),
        run("Ice", subject="B"),
        run("ICE."),
        run("Ice", context="Of comets."),
    ]
    [warning] = duplicate_warnings(repeated_topics(runs))
    assert warning.startswith("Topics 1, 3 and 6 are the same, “Ice”: each is researched and paid for.")


def test_duplicate_warnings_are_bounded():
    runs = [run(f"{n} {'x' * 200}") for n in range(500)] * 30
    warnings = list(duplicate_warnings(repeated_topics(runs)))
    assert len(warnings) == 11
    assert max(map(len, warnings)) < 400
    assert warnings[0].startswith("Topics 1, 501, 1,001,")
    assert " and 20 more are the same" in warnings[0]
    assert warnings[-1] == f"{490 * 29:,} more topics repeat an earlier one."


def test_topics_of_a_long_text_have_the_numbers_of_their_lines() -> None:
    lines = [" " * (n % 7) + ("" if n % 3 else f"Quay {n}") for n in range(60_000)]
    lines[20_000:40_000] = [""] * 20_000 + ["x" * 100_000, "# a comment", "Quay at the end"]
    pairs = [
        (line.strip(), number) for number, line in enumerate(lines, 1) if line.strip()[:1] not in ("", "#")
    ]
    assert list(text_topics("\n".join(lines))) == pairs
    assert list(text_topics("\r\n".join(lines))) == pairs
