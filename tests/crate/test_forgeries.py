"""Each way to forge a crate is refused, or `chiron verify` says that it did not check what was forged."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.crate_files import (
    METADATA,
    Files,
    claim_other_version,
    document,
    entity,
    put,
    remake,
    repair_hashes,
    sign,
    write_zip,
)
from support.crate_mutations import findings_of
from typer.testing import CliRunner

from chiron_api.cli import build
from chiron_api.crate.documents import Citation, TextPosition
from chiron_api.crate.statements import Evidence, context_fault
from chiron_workers.states import Verdict

MEAN = "In winter 2023 the ice was 1.9 m thick."


@dataclass(frozen=True)
class Forgery:
    """What is changed, how the rest of the crate is made to fit, and what a check says of it.

    It is refused, or passes with these words in what was not checked.
    """

    name: str
    change: Callable[[Files], None]
    fit: Callable[[Files], None]
    words: str
    is_refused: bool = True


def in_page(former: str, latter: str) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        before = files["report.html"]
        files["report.html"] = before.replace(former.encode(), latter.encode())
        assert files["report.html"] != before

    return change


def encode_page(encoding: str) -> Callable[[Files], None]:
    """Write a script into the page, and the page in an encoding in which no byte string of the script is in it."""

    def change(files: Files) -> None:
        SCRIPT(files)
        files["report.html"] = files["report.html"].decode().encode(encoding)

    return change


def in_report(change_report: Callable[[Any], None]) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        report = document(files, "report.json")
        change_report(report)
        put(files, "report.json", report)

    return change


def finding_of(report: Any, content: str = MEAN) -> Any:
    return next(finding for finding in findings_of(report) if finding["content"] == content)


def state(content: str, **more: str) -> Callable[[Files], None]:
    """Have a finding state something else."""

    def change(report: Any) -> None:
        finding = finding_of(report)
        finding["content"] = content
        own = next(citation for citation in finding["citations"] if not citation["wording"])
        own.update(more)

    return in_report(change)


def keep_true_wording(report: Any) -> None:
    """The finding says something else, and each source is still cited with what it says."""
    finding = finding_of(report)
    for citation in finding["citations"]:
        citation["wording"] = citation["wording"] or MEAN
    finding["content"] = "In winter 2023 no ice was left."


def raise_confidence(report: Any) -> None:
    for finding in findings_of(report):
        finding["confidence"] = 1.0


def answer_with(number_offset: int = 0, **more: str) -> Callable[[Any], None]:
    def change(report: Any) -> None:
        finding = finding_of(report)
        sentence = {
            "text": "There will be no more ice in 2031.",
            "facts": [
                {"fact_id": finding["fact_id"], "number": finding["number"] + number_offset, "mark": ""}
            ],
            "sources": [1],
            "is_disputed": False,
            "verdict_by": "claude-opus-5-5",
            "verdict": "supported",
            "mark": "",
        } | more
        report["answer"] = {
            "run_id": report["work"]["runs"][0]["run_id"],
            "model": "claude-opus-5-5",
            "written_at": "2026-03-02T12:00:00+00:00",
            "sections": [{"title": "Summary", "sentences": [sentence]}],
            "not_known": [],
        }

    return change


def rename_journal(report: Any) -> None:
    report["sources"][0] |= {"title": "Nature", "author": "A. Einstein", "authors": ["A. Einstein"]}


def claim_doi(report: Any) -> None:
    report["sources"][0]["doi"] = "10.1038/forged"


def add_author(report: Any) -> None:
    report["sources"][0]["authors"].append("A. Einstein")


def rename_journal_in_metadata(files: Files) -> None:
    metadata = document(files, METADATA)
    entity(metadata, "#source-1")["name"] = "Nature"
    put(files, METADATA, metadata)


def invent_context(report: Any) -> None:
    citation = finding_of(report)["citations"][0]
    citation["context"] = "The academy has confirmed all of this."


def link_to_elsewhere(report: Any) -> None:
    report["sources"][0]["link"] = "https://evil.example/"


def other_version(files: Files) -> None:
    claim_other_version(files)
    repair_hashes(files)


def remade_by_other_version(files: Files) -> None:
    remake(files)
    other_version(files)


SCRIPT = in_page("</main>", "<script>document.title = 'x'</script></main>")
# What could run or load something in a browser: the name, what it replaces in a page, and what a check says.
ACTIVE_PAGES = [
    ("handler", "<main ", '<main onclick="alert(1)" ', "has the attribute onclick, which"),
    ("handler without quotes", "<main ", "<main onclick=alert(1) ", "has markup that pages of Chiron do not have"),
    ("handler between quotes", "</main>", '<details open x=a" ontoggle=alert(1) y=b"></main>', "has markup that"),
    ("handler behind a quote", "<main ", "<main title='>' onload=x ", "has markup that"),
    ("handler beside a slash", "<main ", '<main class="x"/onclick="alert(1)" ', "has markup that"),
    ("image", "</main>", "<IMG/SRC=x></main>", "has markup that"),
    ("element in a title", "<title>", '<title><img src="x">', "has the element img, which"),
    ("comment", "</main>", "<!--><script>alert(1)</script>--></main>", "has markup that"),
    ("tag without an end", "</main>", '</main><p class="x', "has markup that"),
    ("scripted link", 'href="https://', 'href="javascript:x//', "has a link that"),
    ("scripted link by number", 'href="https://', 'href="&#106;avascript:x//', "has a character reference that"),
    ("scripted link by name", 'href="https://', 'href="javascript&colon;x//', "has a character reference that"),
    ("scripted link with a tab", 'href="https://', 'href="java\tscript:x//', "has a link that"),
    ("scripted link behind a control", 'href="https://', 'href="\x01javascript:x//', "has a link that"),
    ("link to data", 'href="https://', 'href="data:text/html,', "has a link that"),
    ("link to another machine", 'href="https://', 'href="file://evil.example/', "has a link that"),
    ("link of another element", '<main id="', '<main href="https://a.org" id="', "has the attribute href, which"),
    ("refresh", 'name="referrer"', 'http-equiv="refresh"', "has the element meta with"),
    ("refresh by number", 'name="referrer"', 'http-equiv="&#114;efresh"', "has a character reference that"),
    ("rules of another place", "<style>", '<style>@import "http://evil.example/x.css";', "has style rules that"),
    ("rules of another place by address", "<style>", "<style>@import url(http://evil.example/);", "has style rules"),
    ("picture of a rule", "<style>", "<style>p { background: url(http://evil.example/x) }", "has style rules that"),
    ("picture of a set", "<style>", '<style>p { content: image-set("http://evil.example/x" 1x) }', "has style rules"),
    ("escaped name in a rule", "<style>", "<style>p { background: u\\72l(http://evil.example/x) }", "has style rules"),
    ("rule behind a broken text", "<style>", '<style>p { quotes: "a\n; background: url(//x) } "', "has style rules"),
    ("rule behind a tag", "<style>", "<style></p>@import url(http://evil.example/);", "has style rules that"),
    ("style of one element", "<main ", '<main style="background:url(http://evil.example/)" ', "the attribute style"),
    ("frame", "</main>", '<iframe srcdoc="x"></iframe></main>', "has the element iframe, which"),
]  # fmt: skip
FORGERIES = [
    Forgery("script", SCRIPT, repair_hashes, "is not the page of report.json"),
    Forgery("script of another version", SCRIPT, other_version, "has the element script, which"),
    *(Forgery(name, in_page(former, latter), other_version, words) for name, former, latter, words in ACTIVE_PAGES),
    Forgery("script in UTF-16", encode_page("utf-16"), other_version, "is not UTF-8"),
    Forgery("script in UTF-16 without a mark", encode_page("utf-16-le"), other_version, "is not UTF-8"),
    Forgery("mark of an encoding", in_page("<!doctype", "\ufeff<!doctype"), other_version, "does not begin as pages"),
    Forgery("no encoding named", in_page('<meta charset="utf-8">', ""), other_version, "does not begin as pages"),
    Forgery("byte of zeros", in_page("</main>", "\0</main>"), other_version, "has a NUL"),
    Forgery("words of the page", in_page(MEAN, "There is no ice."), repair_hashes, "is not the page of"),
    Forgery("words of a page of another version", in_page(MEAN, "There is no ice."), other_version,
            "Page not compared: the crate says that version 0.0.1 000000000000 of Chiron made it.", is_refused=False),
    Forgery("figure", state("In winter 2023 the ice was 7.4 m thick."), remake, "does not support its statement"),
    Forgery("figure, by another version", state("In winter 2023 the ice was 7.4 m thick."), remade_by_other_version,
            "does not support its statement"),
    Forgery("figure that a model is said to support", state("In winter 2023 the ice was 7.4 m thick.",
            verdict="supported", verdict_by="claude"), remake, "Rules doubt 1 that a model supports, by the author's word",
            is_refused=False),
    Forgery("statement called found by the rules", state("The ice will be gone soon.", verdict="supported",
            verdict_by="rules"), remake, "says that the rules support its statement, but"),
    Forgery("statement that the rules leave open", state("The ice will be gone soon."), remake,
            "statements as far as the rules leave them open", is_refused=False),
    Forgery("statement beside true wordings", in_report(keep_true_wording), remake, "none of its sources is cited for"),
    Forgery("statement of the report alone", state("The ice will be gone soon."), repair_hashes,
            "differs between the annotations and the report"),
    Forgery("confidence of the report alone", in_report(raise_confidence), repair_hashes, "is not the page of"),
    Forgery("confidence", in_report(raise_confidence), remake, "models, confidence, runs", is_refused=False),
    Forgery("answer of the report alone", in_report(answer_with()), repair_hashes, "is not the page of"),
    Forgery("answer about what is not there", in_report(answer_with(1)), remake, "rests on a finding that the report"),
    Forgery("answer", in_report(answer_with()), remake, "answers (2).", is_refused=False),
    Forgery("answer called supported by the rules", in_report(answer_with(verdict_by="rules")), remake,
            "calls a sentence supported that no model has judged"),
    Forgery("answer without its mark", in_report(answer_with(verdict_by="", verdict="unchecked")), remake,
            "leaves out that no model has judged a sentence"),
    Forgery("journal of the metadata", rename_journal_in_metadata, repair_hashes, "Source 1 differs between"),
    Forgery("journal of the report", in_report(rename_journal), repair_hashes, "Source 1 differs between"),
    Forgery("author of the report", in_report(add_author), repair_hashes, "Source 1 differs between"),
    Forgery("DOI of the report", in_report(claim_doi), repair_hashes, "Source 1 differs between"),
    Forgery("journal", in_report(rename_journal), remake, "names and scores of sources", is_refused=False),
    Forgery("context", in_report(invent_context), remake, "the context that the report gives is not near its quote"),
    Forgery("field that no check compares", in_report(link_to_elsewhere), repair_hashes, "report.json is not what this"),
]  # fmt: skip


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> tuple[Ed25519PrivateKey, str]:
    """The author's key pair: the private key, and the path of the public one."""
    key = Ed25519PrivateKey.generate()
    place = tmp_path_factory.mktemp("keys") / "public.pem"
    place.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return key, str(place)


def run_verify(*arguments: str):
    return CliRunner().invoke(build(), ["verify", *arguments])


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_a_forgery_is_refused_or_named(files, tmp_path, forgery):
    forgery.change(files)
    forgery.fit(files)
    answer = run_verify(str(write_zip(files, tmp_path / "crate.zip")))
    assert (answer.exit_code, forgery.words in answer.stdout) == (int(forgery.is_refused), True), (
        answer.output
    )


@pytest.mark.parametrize("is_listed_anew", [False, True], ids=["", "listed anew"])
@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_no_forgery_of_a_signed_crate_passes_with_the_key(files, tmp_path, keys, forgery, is_listed_anew):
    key, public = keys
    sign(files, key)
    signing_files = {name: files.pop(name) for name in ("manifest.sha256", "manifest.sha256.sig")}
    forgery.change(files)
    forgery.fit(files)
    sign(files, Ed25519PrivateKey.generate())
    files |= (
        {"manifest.sha256.sig": signing_files["manifest.sha256.sig"]} if is_listed_anew else signing_files
    )
    answer = run_verify(str(write_zip(files, tmp_path / "crate.zip")), "--key", public)
    words = "is not one of the key SHA256:" if is_listed_anew else "is not the file that was signed."
    assert (answer.exit_code, words in answer.stdout) == (1, True), answer.output


@pytest.mark.parametrize(
    ("text", "context", "fault"),
    [
        ("Five myths about tea\n\nTea cures colds. It is drunk hot.", "", "omits the context"),
        ("Five myths about tea\n\nTea cures colds. It is drunk hot.", "Five myths about tea", ""),
        ("All about tea\n\nTea cures colds. It is drunk hot.", "", ""),
        ("All about tea\n\nA list. Tea cures colds.", "All about tea", ""),
        ("All about tea\n\nTea cures colds.", "A clinical trial", "is not near its quote"),
    ],
)
def test_the_context_of_a_quote_stands_around_it(text, context, fault):
    quote = "Tea cures colds."
    start = text.index(quote)
    words = {"type": "TextQuoteSelector", "exact": quote, "prefix": "", "suffix": ""}
    place = {"type": "TextPositionSelector", "start": start, "end": start + len(quote)}
    target = {"source": "https://a.org", "state": {"cached": "x"}, "selector": [words, place]}
    citation = {
        "source": 1,
        "wording": "",
        "quote": quote,
        "is_verified": True,
        "assertion_id": "x",
        "target": target,
    }
    parts = Citation.model_validate_json(json.dumps(citation))
    assert isinstance(parts.target.selector[1], TextPosition)
    sentence = context_fault(Evidence(quote, quote, context, Verdict.UNCHECKED, ""), text, parts.target)
    assert (fault in sentence, bool(sentence)) == (True, bool(fault))


def test_a_crate_of_a_version_before_says_that_its_page_is_not_compared(files, tmp_path):
    metadata = document(files, METADATA)
    del entity(metadata, "report.html")["version"]
    put(files, METADATA, metadata)
    answer = run_verify(str(write_zip(files, tmp_path / "crate.zip")))
    assert answer.exit_code == 0, answer.output
    assert "Page not compared: the crate says that an older version of Chiron made it." in answer.stdout
    result = json.loads(run_verify(str(tmp_path / "crate.zip"), "--json").stdout)
    assert (result["page"], result["signature"]) == ("not compared", "absent")
