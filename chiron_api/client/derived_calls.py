"""What can be asked of the API: the acts as requests. Written by `docs/generate.py` from `chiron_api.acts`."""

from decimal import Decimal
from typing import Literal

from chiron_api.answers.basics import Receipt
from chiron_api.answers.facts import Fact, FoundFact
from chiron_api.answers.journeys import Journey, JourneyList
from chiron_api.answers.learning import (
    CurriculumReceipt,
    NodeProgress,
    ProgressList,
    Proposal,
    ProposalList,
    ResearchRound,
)
from chiron_api.answers.quizzes import QuestionOrder, Quiz, QuizAnswer, QuizQuestion
from chiron_api.answers.runs import Batch, Run, RunReceipt, RunResult, Steering
from chiron_api.client.call import Call, fields, get, key_header
from chiron_api.client.targets import Id, id_of, target_of

Money = Decimal | float
ProposalState = Literal["open", "accepted", "rejected"]


def answer_question(quiz: Id | Quiz, question: Id | QuizQuestion, response: str) -> Call[Quiz]:
    """The quiz with the answer, marked as far as rules can. The first answer counts, however often it is sent.

    At the end a run marks what is open; where none can be had, the `reason` of the answer says why, and its learner
    settles it.
    """
    return Call(
        "POST",
        "/v1/quizzes/{id}/answers",
        Quiz,
        target=id_of("quiz", quiz),
        body=fields(question_id=id_of("question", question), response=response),
        is_repeatable=True,
    )


def cancel(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """End all open runs of a batch. What a worker plays ends when the worker learns of it."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/cancel", Steering, target=target, body=fields())


def decide_proposal(proposal: Id | Proposal, accept: bool, reason: str) -> Call[Proposal]:
    """Accept a proposal, which changes the map at once, or reject it; 409 where it was decided or the map forbids it."""
    return Call(
        "POST",
        "/v1/proposals/{id}/decide",
        Proposal,
        target=id_of("proposal", proposal),
        body=fields(accept=accept, reason=reason),
    )


def fact(fact: Id | Fact | FoundFact) -> Call[Fact]:
    """A fact with its sources, the explanation of its confidence, what contradicts it, and its history."""
    return get("/v1/facts/{id}", Fact, target=id_of("fact", fact))


def finish_lesson(journey: Id | Journey) -> Call[Journey]:
    """The lesson that waited is read; questions about it come next, in the quiz `quiz_id`. 409 where none waits."""
    return Call("POST", "/v1/journeys/{id}/read", Journey, target=id_of("journey", journey))


def journey(subject: str) -> Call[Journey]:
    """Where whoever asks stands on the way through a subject, what it cost so far and what comes next."""
    return get("/v1/subjects/{id}/journey", Journey, target=id_of("subject", subject))


def journeys() -> Call[list[Journey]]:
    """The journeys of whoever asks, the one that moved last first; 100 at most."""
    return get("/v1/journeys", JourneyList, part="items")


def order_curriculum(
    subject: str,
    goal: str,
    *,
    depth: str = "practical",
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
    idempotency_key: str | None = None,
) -> Call[CurriculumReceipt]:
    """Save the goal of a subject, by any name, and have a run draw up its map: 202 with the batch.

    The same goal and depth by the same model under the same budget are one batch. With an Idempotency-Key, what is sent
    under it is one batch, also where the goal is mapped again.

    Args:
        depth: How deeply: overview, practical, expert, or other words.
        again: Map the goal anew, though it was mapped before.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/curriculum",
        CurriculumReceipt,
        target=id_of("subject", subject),
        body=fields(
            goal=goal,
            depth=depth,
            model=model,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            again=again,
        ),
        headers=key_header(idempotency_key, is_made=again),
        is_repeatable=True,
    )


def order_questions(
    subject: str,
    *,
    node_id: Id | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[QuestionOrder]:
    """Have runs write questions from the facts of a node, or of each node that has facts; it returns at once with the batch.

    Once the batch is done, a quiz asks them.

    Args:
        node_id: Only about this node of the map.
        model: The model that writes. Left out, the configured one.
        budget_usd: What the questions may cost; it pauses there.
        again: Also where they were written before from the same facts.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/questions",
        QuestionOrder,
        target=id_of("subject", subject),
        body=fields(
            node_id=node_id, model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again
        ),
        is_repeatable=not again,
    )


def order_research(
    subject: str,
    *,
    facts_min: int = 3,
    topics_max: int = 20,
    model: str | None = None,
    budget_usd: Money | None = None,
    again: bool = False,
) -> Call[ResearchRound]:
    """Have runs research what the map lacks, one a node: 202 with the batch, 200 where none begins. No node has two open
    runs.

    Args:
        facts_min: Accepted facts that a node needs, from two origins.
        topics_max: Nodes that are researched at once.
        again: Try nodes again that gained nothing twice.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/research",
        ResearchRound,
        target=id_of("subject", subject),
        body=fields(
            facts_min=facts_min, topics_max=topics_max, model=model, budget_usd=budget_usd, again=again
        ),
        is_repeatable=not again,
    )


def pause(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """Put all open runs of a batch aside. A worker finishes the model call it is in."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/pause", Steering, target=target, body=fields())


def progress(subject: str) -> Call[list[NodeProgress]]:
    """The mastery of whoever asks of each node, how many questions it has, and how many of them are due for review."""
    return get("/v1/subjects/{id}/progress", ProgressList, target=id_of("subject", subject), part="items")


def proposals(subject: str, state: ProposalState | None = None) -> Call[list[Proposal]]:
    """What research has proposed for the map of a subject, newest first, with what was decided and why; 200 at most."""
    return get(
        "/v1/subjects/{id}/proposals",
        ProposalList,
        target=id_of("subject", subject),
        part="items",
        query=fields(state=state),
    )


def quiz(quiz: Id | Quiz) -> Call[Quiz]:
    """A quiz of whoever asks: the answers so far with their keys and marks, and the question that comes next."""
    return get("/v1/quizzes/{id}", Quiz, target=id_of("quiz", quiz))


def reinstate(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Take a withdrawal back. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/reinstate", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )


def resume(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
) -> Call[Steering]:
    """Let what was paused go on; with a higher budget where that is spent."""
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/resume",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens),
    )


def resume_journey(journey: Id | Journey, budget_usd: Money | None = None) -> Call[Journey]:
    """Have a journey go on that was stopped, paused or failed, and with it what it has paused; 409 where it is under way.

    Args:
        budget_usd: What it may cost as a whole from now on.
    """
    return Call(
        "POST",
        "/v1/journeys/{id}/resume",
        Journey,
        target=id_of("journey", journey),
        body=fields(budget_usd=budget_usd),
    )


def retry(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    from_scratch: bool = False,
) -> Call[Steering]:
    """Try what failed or was cancelled again, from where it ended."""
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/retry",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens, from_scratch=from_scratch),
    )


def settle_answer(quiz: Id | Quiz, question: Id | QuizAnswer, mark: Literal["right", "wrong"]) -> Call[Quiz]:
    """The quiz with the answer as its learner settles it; 409 where it is not doubtful."""
    return Call(
        "POST",
        "/v1/quizzes/{id}/settlements",
        Quiz,
        target=id_of("quiz", quiz),
        body=fields(question_id=id_of("question", question), mark=mark),
    )


def start_journey(
    subject: str,
    goal: str,
    *,
    depth: str = "practical",
    model: str | None = None,
    budget_usd: Money | None = None,
    facts_min: int = 3,
    again: bool = False,
) -> Call[Journey]:
    """Begin to learn a subject, by any name, or have the journey go on that stands still; workers take it from step to step.

    Nothing is changed where it is under way to the same goal; it is refused where it is under way to another one.

    Args:
        depth: How deeply: overview, practical, expert, or other words.
        budget_usd: What it may cost as a whole; it stands still there.
        facts_min: Accepted facts that a node needs, from two origins.
        again: Map the goal anew, and try nodes again that gained nothing.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/journey",
        Journey,
        target=id_of("subject", subject),
        body=fields(
            goal=goal, depth=depth, model=model, budget_usd=budget_usd, facts_min=facts_min, again=again
        ),
        is_repeatable=not again,
    )


def start_quiz(subject: str, *, node_id: Id | None = None, count: int = 3) -> Call[Quiz]:
    """The open quiz of whoever asks, or a new one: 201. 409 where no questions are stored yet."""
    return Call(
        "POST",
        "/v1/quizzes",
        Quiz,
        body=fields(subject=subject, node_id=node_id, count=count),
        is_repeatable=True,
    )


def stop_journey(journey: Id | Journey) -> Call[Journey]:
    """Stop a journey and cancel what it has under way; what was found and learnt stays. 409 where it stands still."""
    return Call("POST", "/v1/journeys/{id}/stop", Journey, target=id_of("journey", journey))


def withdraw(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/withdraw", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )
