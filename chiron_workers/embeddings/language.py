from chiron_workers.embeddings.space import Space
from chiron_workers.language.detection import ENGLISH, detect_language


def languages_of(space: Space) -> list[str] | None:
    """The languages that a model was trained on, by their names in Postgres; None for a model that knows all."""
    return [ENGLISH] if "minilm" in space.model.lower() else None


def looks_foreign(text: str) -> bool:
    """Whether a text is in another language than English, as far as it tells: the embedded model serves it badly."""
    return detect_language(text) not in (None, ENGLISH)
