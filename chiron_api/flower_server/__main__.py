"""`python -P -m chiron_api.flower_server`: what `chiron flower` becomes, in the folder of the home."""

import celery.loaders.app  # noqa: F401  # Celery would import it from the current folder

from chiron_api.flower_server.server import serve
from chiron_workers.settings import settings

if __name__ == "__main__":
    serve(settings())
