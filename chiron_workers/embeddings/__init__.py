from chiron_workers.embeddings.embedder import Embedder, Space, open_embedder
from chiron_workers.embeddings.language import looks_foreign

__all__ = ["Embedder", "Space", "looks_foreign", "open_embedder"]
