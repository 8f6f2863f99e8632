from chiron_workers.search.provider import Hit
from chiron_workers.store import Store
from chiron_workers.store.corpus import Corpus

IS_LOCAL = True


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """The documents of one's own that answer a question best."""
    found = await Corpus(store.session).search(query, subject=subject_id, limit=limit)
    return [Hit(**hit, source_type="own document") for hit in found]
