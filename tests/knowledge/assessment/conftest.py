import pytest
from support.course import AsLearner, Course, course_of_three
from support.research_rows import Shelf

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.runs.session import Caller, Session
from chiron_workers.store import Store


@pytest.fixture
def course(shelf: Shelf) -> Course:
    return course_of_three(shelf)


@pytest.fixture
def as_learner(pool: Pool, embedder: Embedder) -> AsLearner:
    return lambda owner: Store(Session(pool, Caller(owner=owner, is_admin=False)), embedder)
