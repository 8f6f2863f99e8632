"""Names of models that are most likely misspelt."""

from collections.abc import Iterable

from chiron_workers.billing.prices import is_known, model_suggestion
from chiron_workers.settings import Settings


def name_warnings(models: Iterable[str], settings: Settings) -> list[str]:
    """A sentence for each model of which no price is known although one of nearly the same name has one."""
    strangers = [
        model for model in sorted(set(models) - {settings.model}) if not is_known(model, settings.prices)
    ]
    suggestions = {model: model_suggestion(model, settings.prices) for model in strangers}
    return [f"No price is known for the model {model}.{hint}" for model, hint in suggestions.items() if hint]
