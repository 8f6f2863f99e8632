from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.search_providers.provider import Hit
from chiron_workers.store import Store

IS_LOCAL = True


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """Search the subject's corpus, the user's own documents; for a run on it those that are shared with it, too."""
    subject = None if subject_id == store.caller.subject_id else subject_id
    documents = await Corpus(store.session).search(query, subject=subject, limit=limit)
    return [Hit(**document, source_type="own document") for document in documents]
