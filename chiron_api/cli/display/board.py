"""The board of `chiron watch`: the runs of a batch, or one run, as large as the screen."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from chiron_api.cli.display.colours import COLOURS
from chiron_api.cli.display.events import STATE_AFTER, cited, confirmed, event_field, numbered, phrase
from chiron_api.text import duration, facts_phrase, one_line, shorten_middle, tokens, usd
from chiron_workers.pubsub.beginnings import Beginning
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind, RunState

FACTS_SHOWN = 5
PROBLEMS_SHOWN = 3
ROOMY_LINES = 12  # of a screen that has room for the tokens
COLUMNS = (("state", 9, None), ("topic", None, 1), ("step", None, 1), ("facts", 5, None), ("turns", 5, None))


@dataclass(slots=True)
class Row:
    """A run as the board shows it."""

    topic: str
    number: int = 0  # in its batch; 0 where that is not known
    state: RunState = RunState.QUEUED
    step: str = ""
    facts: int = 0
    confirmed: int = 0
    cited: int = 0
    turns: int = 0
    last_event: int = 0  # how many events of all runs had come when its last one came
    partial_text: str = ""
    problem: str = ""  # why it failed or paused


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a batch or a run; None without one."""

    usd: Decimal | None = None
    tokens: int | None = None

    def of(self, usage: "EventUsage") -> str:
        """The cost so far, with each budget."""
        cost = usage.cost if self.usd is None else f"{usage.cost} of {usd(self.usd)}"
        return cost if self.tokens is None else f"{cost}  {usage.tokens:,} of {self.tokens:,} tokens"


@dataclass(frozen=True, slots=True)
class Shortened:
    """A line that loses its middle where it is too long, so that topics which differ at their ends stay apart."""

    text: str

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """The line, as long as there is room."""
        chars_max = options.max_width
        line = shorten_middle(self.text, chars_max)
        while cell_len(line) > options.max_width:  # letters of two cells
            chars_max -= 1
            line = shorten_middle(self.text, chars_max)
        yield Text(line, no_wrap=True, end="")


@dataclass(slots=True)
class EventUsage:
    """Tokens and money of the replies that events tell of."""

    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0  # None once nobody knows what a reply cost

    def add(self, data: Mapping[str, Any]) -> None:
        """Add what the event of a reply says."""
        self.input_tokens += data.get("input_tokens") or 0
        self.cache_write_tokens += data.get("cache_write_tokens") or 0
        self.cache_read_tokens += data.get("cache_read_tokens") or 0
        self.output_tokens += data.get("output_tokens") or 0
        self._add_usd(data.get("cost_usd"))

    def add_services(self, data: Mapping[str, Any]) -> None:
        """Add what the event of a tool call says of hosted services."""
        self._add_usd(data.get("services_usd"))

    def _add_usd(self, cost_usd: float | None) -> None:
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.input_tokens + self.cache_write_tokens + self.cache_read_tokens + self.output_tokens

    @property
    def cost(self) -> str:
        """The money for people."""
        return "cost unknown" if self.cost_usd is None else usd(self.cost_usd)


@dataclass(slots=True)
class Board:
    """The runs of a batch, or one run: counts, sums and the rows with the latest events, as many as fit the screen."""

    title: str
    rows: dict[UUID, Row] = field(default_factory=dict)
    numbers: Mapping[UUID, int] = field(default_factory=dict)  # of runs that have no row yet
    hint: str = ""
    facts: deque[str] = field(default_factory=lambda: deque(maxlen=FACTS_SHOWN))
    events: int = 0
    usage: EventUsage = field(default_factory=EventUsage)
    budget: Budget = Budget()
    started_at: datetime | None = None
    # Of each run: events that the sums have already.
    counted_seqs: dict[UUID, int] = field(default_factory=dict)

    @classmethod
    def begin(cls, title: str, beginning: Beginning, *, hint: str, budget: Budget = Budget()) -> Self:
        """The board of a stream that begins with what its runs have come to."""
        sums = beginning.sums
        rows = {
            run.id: Row(run.topic, run.number, run.state, "", run.facts, run.confirmed, run.cited, run.turns)
            for run in beginning.runs
        }
        usage = EventUsage(
            sums.input_tokens,
            sums.cache_write_tokens,
            sums.cache_read_tokens,
            sums.output_tokens,
            None if sums.spent_usd is None else float(sums.spent_usd),
        )
        seqs = dict(zip(beginning.run_ids, beginning.seqs, strict=True))
        if beginning.run_id:
            seqs[beginning.run_id] = sums.events
        return cls(
            title,
            rows,
            hint=hint,
            usage=usage,
            budget=budget,
            started_at=sums.started_at,
            counted_seqs=seqs,
        )

    def apply(self, event: Event) -> None:
        """Update rows and sums by an event."""
        row = self.rows.get(event.run_id)
        if row is None:
            row = Row(event_field(event.data, "topic"), self.numbers.get(event.run_id, 0))
            self.rows[event.run_id] = row
        self.events += 1
        row.last_event = self.events
        if event.kind == EventKind.TEXT_DELTA:
            row.partial_text = f"{row.partial_text}{event.data.get('text', '')}"[-200:]
            row.step = f"writes: {one_line(row.partial_text, chars_max=200)[-60:]}"
            return
        row.partial_text = ""
        if event.kind != EventKind.BATCH_COMPLETED:
            row.step = phrase(event)
        row.state = STATE_AFTER.get(event.kind, row.state)  # type: ignore[call-overload]
        if event.kind in STATE_AFTER:
            row.problem = row.step if event.kind in (EventKind.RUN_FAILED, EventKind.RUN_PAUSED) else ""
        if row.state == RunState.RUNNING and self.started_at is None:
            self.started_at = event.at
        self._count(event, row)

    def _count(self, event: Event, row: Row) -> None:
        if event.kind == EventKind.FACT_STORED:
            self.facts.append(phrase(event).removeprefix("fact: "))
        if (event.seq or 0) <= self.counted_seqs.get(event.run_id, 0):
            return
        if event.kind == EventKind.MODEL_REPLIED:
            row.turns += 1
            self.usage.add(event.data)
        elif event.kind == EventKind.TOOL_RETURNED:
            row.confirmed += confirmed(event.data)
            if "model_calls" in event.data:
                self.usage.add(event.data)
            if "service_calls" in event.data:
                self.usage.add_services(event.data)
        elif event.kind == EventKind.FACT_STORED:
            row.facts += 1
        elif event.kind == EventKind.RUN_COMPLETED:
            row.cited = cited(event.data)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The whole screen."""
        # The command has its own line, so that it can be pasted.
        hint = Text(self.hint.replace(" `chiron", "\n`chiron"), style="dim")
        height = console.size.height - max(1, len(hint.wrap(console, options.max_width)))
        facts = min(len(self.facts), max(0, height - 10))
        room = max(1, height - 7 - facts)
        problems = self._shared_problems() if room > PROBLEMS_SHOWN else {}
        parts: list[RenderableType] = [
            self._head(with_tokens=height >= ROOMY_LINES - 1),
            self._bar(options.max_width),
            self._table(room - len(problems), problems),
            *(
                Text(f"  {count:,} runs {words}", no_wrap=True, overflow="ellipsis")
                for words, count in problems.items()
            ),
        ]
        parts += (
            [Text(f"  {fact}", no_wrap=True, overflow="ellipsis") for fact in list(self.facts)[-facts:]]
            if facts
            else []
        )
        parts.append(hint)
        yield Group(*parts)

    def _shared_problems(self) -> dict[str, int]:
        """Problems that several runs share word for word, with their count, the most frequent first."""
        counts = Counter(row.problem for row in self.rows.values() if row.problem)
        return {words: count for words, count in counts.most_common(PROBLEMS_SHOWN) if count > 1}

    def _head(self, *, with_tokens: bool) -> Text:
        counts = Counter(row.state for row in self.rows.values())
        head = Text(self.title, style="bold", no_wrap=True, overflow="ellipsis")
        for state in RunState:
            if counts[state]:
                head.append(f"  {counts[state]:,} {state}", style=COLOURS[state])
        rows = self.rows.values()
        facts = facts_phrase(
            sum(row.facts for row in rows), sum(row.confirmed for row in rows), sum(row.cited for row in rows)
        )
        runtime_s = (datetime.now(UTC) - self.started_at).total_seconds() if self.started_at else 0.0
        head.append(
            f"\n{facts}  {self.budget.of(self.usage)}  {duration(runtime_s)}{self._rest(runtime_s)}",
            style="not bold",
        )
        if with_tokens:
            head.append(f"\ntokens: {tokens(self.usage)}", style="not bold")
        return head

    def _rest(self, runtime_s: float) -> str:
        """How long the open runs take at the pace of those that ended; empty where none runs or none has ended."""
        final_count = sum(row.state.is_final for row in self.rows.values())
        is_running = any(row.state == RunState.RUNNING for row in self.rows.values())
        if not (final_count and is_running):
            return ""
        open_count = len(self.rows) - final_count
        return f", about {duration(runtime_s / final_count * open_count)} left"

    def _bar(self, width: int) -> Table:
        finished_count = sum(row.state.is_final for row in self.rows.values())
        line = Table.grid()  # a bar alone does not end its line
        line.add_row(
            ProgressBar(total=max(1, len(self.rows)), completed=finished_count, width=min(width, 60))
        )
        return line

    def _table(self, room: int, problems: Mapping[str, int]) -> Table:
        rows = self._visible_rows(room)
        table = Table(box=None, expand=True, pad_edge=False, show_edge=False)
        for name, width, ratio in COLUMNS:
            table.add_column(
                name, width=width, ratio=ratio, no_wrap=True, overflow="ellipsis", header_style="dim"
            )
        for row in rows:
            table.add_row(
                Text(row.state, style=COLOURS[row.state]),
                Shortened(numbered(row.number, one_line(row.topic))),
                Text("" if row.problem in problems else row.step),
                Text(str(row.facts)),
                Text(str(row.turns)),
            )
        if hidden_count := len(self.rows) - len(rows):
            table.add_row(Text(""), Text(f"and {hidden_count:,} more", style="dim"))
        return table

    def _visible_rows(self, room: int) -> Sequence[Row]:
        """The rows with the latest events, in the order of the topics, so that they do not jump about."""
        rows = list(self.rows.values())
        if len(rows) <= room:
            return rows
        last = sorted(rows, key=lambda row: (row.state != RunState.RUNNING, -row.last_event))[
            : max(1, room - 1)
        ]
        ids = {id(row) for row in last}
        return [row for row in rows if id(row) in ids]
