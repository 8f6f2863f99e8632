"""`python -P -m chiron_workers worker`: Celery's commands with Chiron's app, deaf to the current folder.

`celery -A chiron_workers` puts that folder before everything else while it imports the app and its tasks, so that a
`duckdb.py` lying there would be run. Here they are imported before Celery looks.
"""

import sys

import celery.bin.celery
import celery.loaders.app  # noqa: F401  # Celery would import it from the current folder, too

import chiron_workers.tasks  # noqa: F401  # the same
from chiron_workers.celery import app

if __name__ == "__main__":
    sys.exit(app.start(sys.argv[1:]))
