"""`python -P -m chiron_workers worker`: Celery's worker with Chiron's app, deaf to the current folder.

`celery -A chiron_workers` puts that folder before everything else while it imports the app and its tasks, so that a
`duckdb.py` lying there would be run. Here they are imported before Celery looks. It also loads all commands of Celery and
Flower, 20 MB in each process; here the worker is alone.
"""

import sys

import celery.loaders.app  # noqa: F401  # Celery would import it from the current folder
from celery.bin.base import CLIContext
from celery.bin.worker import worker

import chiron_workers.tasks  # noqa: F401  # the same
from chiron_workers.celery import app

if __name__ == "__main__":
    if sys.argv[1:2] != ["worker"]:
        sys.exit(
            "Say `python -P -m chiron_workers worker`; `celery -A chiron_workers` has Celery's other commands."
        )
    worker.main(
        sys.argv[2:], prog_name="chiron_workers worker", obj=CLIContext(app, no_color=False, workdir=None)
    )
