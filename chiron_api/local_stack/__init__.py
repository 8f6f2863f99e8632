"""The local stack: Postgres, Valkey, workers, API and Flower of one CHIRON_HOME, kept alive."""

from chiron_api.local_stack.home import Home
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.stack import LocalStack
from chiron_api.local_stack.supervision import Part

__all__ = ["Home", "Kind", "LocalStack", "Part"]
