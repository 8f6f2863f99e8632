from chiron_workers.embeddings.embedder import Embedder, open_embedder
from chiron_workers.embeddings.language import looks_foreign
from chiron_workers.embeddings.space import Space

__all__ = ["Embedder", "Space", "looks_foreign", "open_embedder"]
