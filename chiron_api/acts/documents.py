"""Documents of the corpus of a subject. What adds one is a route, since its body is the file."""

from chiron_api.acts.act import Noun, Target
from chiron_api.answers.subjects import DocumentList
from chiron_api.services import Services
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.runs.session import Session

DOCUMENTS = Noun("Subjects", Target("subject"))


@DOCUMENTS.act(
    "subjects.sources",
    "GET /v1/subjects/{id}/documents",
    "List the documents",
    client="documents",
    faces=("GET /subjects/{id}/sources",),
)
async def list_documents(services: Services, id: str) -> DocumentList:
    """The documents of the corpus of a subject, by address."""
    return DocumentList.model_validate({"items": await Corpus(Session(services.pool)).documents(id)})
