"""Parts of the statements that record which facts a run cites: as it ends, and of runs that ended before."""

from pathlib import Path

CITATIONS_SQL = Path(__file__).with_suffix(".sql")
