"""Names of models that are most likely misspelt."""

from collections.abc import Iterable

from chiron_workers.billing.price_tables import model_names
from chiron_workers.billing.prices import is_known
from chiron_workers.nearest import nearest
from chiron_workers.settings import OFFLINE_MODEL, Settings


def name_warnings(models: Iterable[str], settings: Settings) -> list[str]:
    """A sentence for each model of which no price is known although one of nearly the same name has one."""
    warnings = []
    for model in sorted(set(models) - {settings.model}):
        if is_known(model, settings.prices):
            continue
        matches = nearest(model, [*model_names(), *settings.prices, settings.model, OFFLINE_MODEL])
        if matches:
            warnings.append(f"No price is known for the model {model}. Did you mean {' or '.join(matches)}?")
    return warnings
