"""No format of a report shows passwords or keys of addresses: of sources, topics, errors or answers."""

import io
import zipfile
from pathlib import Path

import pytest
from support.report_writing import researched_batch, written_report

from chiron_api.reports.crate.options import PackingOptions
from chiron_api.reports.crate.privacy import TextChoice
from chiron_api.reports.formats import FORMATS
from chiron_api.reports.gathering import gather
from chiron_api.reports.paging import gather_page
from chiron_api.reports.write import encoded

SECRET = "TOPSECRET"
URL = f"https://me:{SECRET}@ice.example.org/a?y=1;token={SECRET}&password%5B%5D={SECRET}&access_token%3D{SECRET}#token={SECRET}"
TEXT = "The ice at the station is thin."


@pytest.fixture
def batch(shelf):
    """A batch whose sources, runs and answers name an address with a password and keys."""
    batch = researched_batch(shelf)
    run = shelf.run(
        "sea-ice", batch.id, f"Read {URL}", answer=f"The ice is thin ({URL}).\n\nSources:\n[1] {URL}"
    )
    shelf.run(
        "sea-ice", batch.id, f"Look at {URL}", state="failed", facts=0,
        error=f'{{"kind": "tool", "message": "{URL} answered 403."}}',
    )  # fmt: skip
    for number, more in enumerate(({"text": TEXT}, {"status": "candidate"}), start=1):
        shelf.fact(
            "sea-ice", f"{TEXT[:-1]}, says page {number}.", URL, "station", quote=TEXT, run_id=run, **more
        )
    shelf.connection.execute("update fetches set title = %s where url = %s", (f"Ice at {URL}", URL))
    written_report(shelf, batch, ("Summary", [(f"The ice is thin, as {URL} says.", [batch.age])]))
    return batch


async def documents(name, report, pool, folder: Path) -> list[bytes]:
    """All that a format writes, also the parts of what is packed."""
    form, place = FORMATS[name], folder / name
    if form.render:
        content = b"".join(map(encoded, form.render(report)))
        if not content.startswith(b"PK"):
            return [content]
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            return [file.read(part) for part in file.namelist()]
    if form.pack:
        await form.pack(pool, report, place, PackingOptions(TextChoice.ALL))
    else:
        form.write_folder(report, place, False)
    return [file.read_bytes() + file.name.encode() for file in place.rglob("*") if file.is_file()]


@pytest.mark.parametrize("name", FORMATS)
async def test_no_format_shows_a_password_or_a_key_of_an_address(batch, pool, tmp_path, name):
    for scope in (batch.id, "sea-ice"):
        report = await gather(pool, scope, with_candidates=True, with_selections=True)
        (tmp_path / str(scope)).mkdir()
        contents = await documents(name, report, pool, tmp_path / str(scope))
        assert [content for content in contents if SECRET.encode() in content] == []
        assert any(b"ice.example.org/a" in content for content in contents)


async def test_no_page_of_a_report_shows_a_password_or_a_key_of_an_address(batch, pool):
    page = await gather_page(pool, batch.id, number=1)
    assert "ice.example.org" in str(page)
    assert SECRET not in str(page)


async def test_an_answer_is_still_linked_with_its_source(batch, pool):
    report = await gather(pool, batch.id, with_candidates=True)
    numbers = {source.number for source in report.sources if source.url == "https://ice.example.org/a?y=1"}
    sentences = [sentence for answer in report.run_answers for sentence in answer.sentences]
    assert any(numbers & set(sentence.sources) for sentence in sentences)
