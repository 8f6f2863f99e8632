from chiron_workers.embeddings.embedder import Embedder, open_embedder
from chiron_workers.embeddings.language import languages_of, looks_foreign
from chiron_workers.embeddings.payments import UNPAID, Payment
from chiron_workers.embeddings.space import Space

__all__ = ["UNPAID", "Embedder", "Payment", "Space", "languages_of", "looks_foreign", "open_embedder"]
