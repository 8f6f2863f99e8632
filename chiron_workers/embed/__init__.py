from chiron_workers.embed.embedder import Embedder, Space, open_embedder

__all__ = ["Embedder", "Space", "open_embedder"]
