from chiron_workers.db.queries import load
from chiron_workers.runs.session import Session

SQL = load(__file__)


async def lock_subject(session: Session, subject_id: str) -> None:
    """Be the only writer of a subject's facts until the commit. The first statement of a transaction."""
    await session.lock(SQL["lock_subject"], {"subject_id": subject_id}, keys=[key_of(subject_id)])


def key_of(subject_id: str) -> str:
    """By what sessions of one pool queue for a subject."""
    return f"facts {subject_id}"
