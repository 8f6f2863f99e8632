"""Documents that are added to subjects."""

from chiron_api.answers.subjects import DocumentReceipt
from chiron_api.client.call import Call


def add_document(subject: str, path: str, content: bytes) -> Call[DocumentReceipt]:
    """Add a document to a subject, so that its agents find it, in place of one of the same path.

    Args:
        path: What it is called there; its ending says how it is read: `papers/ice.pdf`.
        content: The file as it is.
    """
    location = "/v1/subjects/{id}/documents"
    headers = {"Content-Type": "application/octet-stream"}
    return Call(
        "POST",
        location,
        DocumentReceipt,
        target=subject,
        query={"path": path},
        content=content,
        headers=headers,
        is_repeatable=True,
    )
