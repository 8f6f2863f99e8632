from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.search_providers.provider import Hit
from chiron_workers.store import Store

IS_LOCAL = True


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """The documents of one's own that answer a question best."""
    found = await Corpus(store.session).search(query, subject=subject_id, limit=limit)
    return [Hit(**hit, source_type="own document") for hit in found]
