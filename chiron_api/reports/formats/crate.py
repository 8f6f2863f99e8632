"""A report as an RO-Crate: with the texts of its sources, so that `chiron verify` can check every quote elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING

from chiron_api.reports.report import Report
from chiron_api.reports.write import Format

if TYPE_CHECKING:
    from chiron_api.reports.crate.options import PackingOptions
    from chiron_workers.db.connect import Pool


async def _pack(pool: "Pool", report: Report, target: Path, options: "PackingOptions") -> str:
    from chiron_api.reports.crate.packing import pack  # it has other formats write its documents

    return await pack(pool, report, target, options)


FORMAT = Format("crate", order=9, is_text=False, has_selections=True, pack=_pack)
