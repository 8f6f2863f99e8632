"""Two builds that could write different pages of a report name different makers, so neither calls the other's crate forged."""

import json
import unicodedata

from support import bare_interpreter

from chiron_api.reports.crate.remaking import maker, maker_sources

PROGRAM = """
import json
import sys
from pathlib import Path

from chiron_api.reports.crate.remaking import write_annotations, write_json, write_metadata, write_page
from chiron_api.reports.crate.rereading import reread

report = reread(Path(REPORT).read_bytes())
for pieces in (write_page(report), write_json(report), write_annotations(report), write_metadata(report, {}, [])):
    assert b"".join(pieces)
print(json.dumps({name: module.__file__ for name, module in sys.modules.items() if name.startswith("chiron")}))
"""


def test_maker_hashes_each_module_of_ours_that_rendering_imports(files, tmp_path):
    place = tmp_path / "report.json"
    place.write_bytes(files["report.json"])
    outcome = bare_interpreter.run(PROGRAM.replace("REPORT", repr(str(place)), 1))
    modules = json.loads(outcome.output)
    assert "chiron_workers.public_addresses" in modules
    hashed_files = set(map(str, maker_sources()))
    assert {name for name, file in modules.items() if file not in hashed_files} == set()


def test_maker_names_the_unicode_tables_of_python(monkeypatch):
    before = maker.__wrapped__()
    monkeypatch.setattr(unicodedata, "unidata_version", "1.0.0")
    assert maker.__wrapped__() != before == maker()
