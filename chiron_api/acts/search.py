"""Search of stored facts: the act, and a stricter search for people."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from chiron_api.acts.act import Noun, ToolFace
from chiron_api.acts.inputs import INTEGER, AnyTime, Flag, Input, Share
from chiron_api.answers.facts import FoundFact, FoundFacts
from chiron_api.services import Services
from chiron_workers.knowledge.search.filters import SOURCE_CHARS_MAX, Filters
from chiron_workers.knowledge.search.search import QUERY_CHARS_MAX, RESULTS_MAX
from chiron_workers.states import AccessScope, SearchMode

if TYPE_CHECKING:
    from chiron_workers.store import Store

SEARCH = Noun("Facts")
# Cosine. Between questions and facts that have nothing to do with each other the model that comes with Chiron stays below it
# in 95 of 100 pairs; other models put unrelated texts higher, and so little is left out with them.
NEAR_FROM = 0.2
# Among a thousand facts the nearest to a query without meaning, such as one letter 2,000 times, comes that near.
BEST_FROM = 0.25

Name = Annotated[str, Field(min_length=1, max_length=SOURCE_CHARS_MAX)]


class SearchRequest(Input):
    """A question and its filters; without a subject all of them are searched."""

    query: Annotated[
        str,
        Field(
            min_length=1, max_length=QUERY_CHARS_MAX, description="What you want to know, in your own words."
        ),
    ]
    top_k: Annotated[int, Field(ge=1, le=RESULTS_MAX, description="How many facts at most."), INTEGER] = 5
    mode: Annotated[
        SearchMode,
        Field(
            description="vector ranks by meaning alone, text by shared words alone, such as names and numbers, hybrid by both."
        ),
    ] = SearchMode.HYBRID
    subject_id: Annotated[
        Name | None, Field(description="Only facts of this subject, by its id or its name. Default: of all.")
    ] = None
    min_confidence: Annotated[Share, Field(description="Leave out facts below this confidence, 0 to 1.")] = (
        0.0
    )
    candidates: Annotated[
        Flag,
        Field(
            description="Also facts that are not confirmed well enough yet, or that no source says any more."
        ),
    ] = False
    topic_path: Annotated[
        Name | None, Field(description="Only facts at this topic path or below it, such as area/topic.")
    ] = None
    source: Annotated[
        Name | None,
        Field(description="Only facts that rest on this address, or on a domain such as example.org."),
    ] = None
    since: Annotated[
        AnyTime | None, Field(description="Only facts stored since this date, such as 2026-03-01.")
    ] = None
    until: Annotated[AnyTime | None, Field(description="Only facts stored before this date.")] = None
    validated_since: Annotated[
        AnyTime | None, Field(description="Only facts whose confidence was worked out since this date.")
    ] = None
    node_id: Annotated[
        Annotated[Name, Field(json_schema_extra={"format": "uuid"})] | None,
        Field(description="Only facts of this node of the coverage map."),
    ] = None
    neighbours: Annotated[
        Flag,
        Field(description="With node_id: also its parent, children, siblings and prerequisites."),
    ] = False

    @property
    def filters(self) -> Filters:
        """The filters as the store takes them."""
        return Filters(**self.model_dump(exclude={"query", "top_k", "mode"}))


@SEARCH.act(
    "knowledge.search",
    "POST /v1/knowledge/search",
    "Search the facts",
    client="search",
    scope=AccessScope.READ,
    changes=False,
    faces=("GET /search", "tool vector_search", "tool knowledge_base"),
    problems=(HTTPStatus.NOT_FOUND,),
    costs_money=True,
    repeatable=True,
    tool=ToolFace(
        "search",
        part="items",
        next_step="Without `subject_id` all subjects are searched. `context` is the text around the quote.",
    ),
)
async def search_facts(services: Services, options: SearchRequest) -> FoundFacts:
    """Search what is known, by meaning and by words: the best facts first, each with its source.

    Where embeddings are hosted, the budget of the key pays for that of the query; where it cannot, words alone are searched, and
    `note` says why.
    """
    async with services.store() as store:
        answer = await _find(store, options)
        if len(answer.items) == options.top_k:
            return answer
        # Counting costs as much as a search, so only those who miss something pay for it.
        unembedded = await store.search.unembedded(options.subject_id)
        return answer.model_copy(update={"unembedded": unembedded})


async def search_for_people(services: Services, options: SearchRequest) -> FoundFacts:
    """Search as `search_facts`, without facts that are neither near in meaning nor share a word with the query.

    The result is empty if no fact shares a word and even the nearest is far.
    """
    async with services.store() as store:
        answer = await _find(store, options)
        mode = SearchMode.TEXT if answer.words_only else options.mode
        is_best_near = max(map(_similarity, answer.items), default=0.0) >= BEST_FROM
        if mode is SearchMode.TEXT or (is_best_near and all(map(_is_near, answer.items))):
            return answer
        match_ids = set()
        if mode is SearchMode.HYBRID:
            by_words = options.model_copy(update={"mode": SearchMode.TEXT, "top_k": RESULTS_MAX})
            match_ids = {fact.id for fact in (await _find(store, by_words)).items}
    if not is_best_near and match_ids.isdisjoint(fact.id for fact in answer.items):
        return answer.model_copy(update={"items": []})
    items = [fact for fact in answer.items if _is_near(fact) or fact.id in match_ids]
    return answer.model_copy(update={"items": items})


async def _find(store: "Store", options: SearchRequest) -> FoundFacts:
    """The facts of a search. Raises NotFound for an unknown subject."""
    facts = await store.search.find(
        options.query, filters=options.filters, limit=options.top_k, mode=options.mode
    )
    if not facts and options.subject_id:
        await store.subjects.require(options.subject_id)
    note = store.search.words_only
    return FoundFacts.model_validate({"items": facts} | ({"words_only": True, "note": note} if note else {}))


def _is_near(fact: FoundFact) -> bool:
    return _similarity(fact) >= NEAR_FROM


def _similarity(fact: FoundFact) -> float:
    return fact.similarity or 0.0
