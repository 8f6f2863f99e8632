"""A model server with a log of its own, which is the witness of the crash tests: it shares no code with what it watches.

Started as a program it prints its URL. Each worker process is given an address of its own below that, /<worker>, so
the log knows who asked without believing anybody's tables.
"""

import argparse
import asyncio
import itertools
import json
import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from aiohttp import web

from crashes.replies import writes

REFUSALS = {"429": "rate_limit_error", "500": "api_error", "529": "overloaded_error"}
BROKEN_STREAMS = ("drop", "stall", "truncate", "error event", "corrupt")
FAULTS = (*REFUSALS, *BROKEN_STREAMS)
TOPIC = re.compile(r"(r\d+) of node ([0-9a-f-]{36})")
PARTS = 4  # writes that a stream is spread over


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the server answers: its faults follow from the seed and the number of the call."""

    seed: int
    turns: int
    latency_s: float
    fault_rate: float
    stall_s: float
    finish: Path  # once it exists, each run's next reply ends it; not the first reply, since a run without a call fails

    def turns_of(self, call: "Call") -> int:
        """How many turns the run of a call has, as far as is known."""
        return max(call.turn + 1, 2) if self.finish.exists() else self.turns

    def fault(self, call: int) -> str:
        """What goes wrong with a call, or nothing."""
        chance = random.Random(f"{self.seed}:fault:{call}")
        return chance.choice(FAULTS) if chance.random() < self.fault_rate else ""

    def seconds(self, call: int) -> float:
        """How long a call takes."""
        return self.latency_s * random.Random(f"{self.seed}:latency:{call}").uniform(0.5, 1.5)


@dataclass(slots=True)
class Call:
    """One request: who asks, for which turn of which run."""

    number: int
    worker: str
    run: str
    node_id: str
    turn: int
    errors: int  # results of tools that the model is told have failed
    complete_at: float = 0.0  # when the last byte of message_stop was written


class Server:
    """Answers, and writes down what became of each call."""

    def __init__(self, behaviour: Behaviour, log: IO[str]) -> None:
        self._behaviour = behaviour
        self._log = log
        self._numbers = itertools.count(1)

    async def handle(self, http: web.Request) -> web.StreamResponse:
        request = await http.json()
        call = _call(next(self._numbers), http.match_info["worker"], request)
        self._note(call, "received")
        fault = self._behaviour.fault(call.number)
        is_refused = fault in REFUSALS
        try:
            await asyncio.sleep(self._behaviour.seconds(call.number) / 2)
            if is_refused:
                return _refusal(fault)
            return await self._stream(http, call, request["model"], fault)
        finally:
            # What becomes of the connection after message_stop is no business of the reply.
            self._note(call, "refused" if is_refused else "answered" if call.complete_at else "cut", fault)

    async def _stream(self, http: web.Request, call: Call, model: str, fault: str) -> web.StreamResponse:
        parts = [_wire(event) for event in _events(call, model, self._behaviour)]
        response = web.StreamResponse(
            headers={"content-type": "text/event-stream", "request-id": f"req_{call.number}"}
        )
        await response.prepare(http)
        for part in _split(parts, PARTS)[: PARTS // 2 if fault else PARTS]:
            await asyncio.sleep(self._behaviour.seconds(call.number) / 2 / PARTS)
            # A client that is gone does not take what is written; one that has read all may be gone at once.
            is_connected = http.transport is not None and not http.transport.is_closing()
            await response.write(part)
        call.complete_at = time.time() if is_connected and not fault else 0.0
        match fault:
            case "error event":
                await response.write(_wire(_error("overloaded_error")))
            case "corrupt":
                await response.write(b'event: content_block_delta\ndata: {"type": "content_blo\n\n')
            case "stall":
                await asyncio.sleep(self._behaviour.stall_s)
        if fault in ("drop", "stall") and http.transport is not None:
            http.transport.abort()
        else:
            await response.write_eof()
        return response

    def _note(self, call: Call, event: str, fault: str = "") -> None:
        line = {
            "at": time.time(),
            "event": event,
            "call": call.number,
            "worker": call.worker,
            "run": call.run,
        }
        line |= {"turn": call.turn, "fault": fault, "errors": call.errors, "complete_at": call.complete_at}
        self._log.write(json.dumps(line) + "\n")


def _call(number: int, worker: str, request: dict[str, Any]) -> Call:
    messages = request["messages"]
    found = TOPIC.search(str(messages[0]["content"]))
    assert found is not None, "a conversation that is none of this test"
    turn = sum(message["role"] == "assistant" for message in messages)
    blocks = [block for message in messages[-1:] for block in message["content"]]
    errors = sum(bool(block.get("is_error")) for block in blocks)
    return Call(number, worker, found[1], found[2], turn, errors)


def _events(call: Call, model: str, behaviour: Behaviour) -> Iterator[dict[str, Any]]:
    asked = writes(behaviour.seed, call.run, call.turn, turns=behaviour.turns_of(call))
    usage = {"input_tokens": 500 + 100 * call.turn, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{call.number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    yield {"type": "message_start", "message": message}
    yield from _block(
        0, {"type": "text", "text": ""}, {"type": "text_delta", "text": f"Turn {call.turn}. " * 20}
    )
    for n, write in enumerate(asked, start=1):
        arguments = write.arguments(node_id=call.node_id, call=call.number)
        start = {"type": "tool_use", "id": f"toolu_{call.number}_{n}", "name": write.tool, "input": {}}
        yield from _block(n, start, {"type": "input_json_delta", "partial_json": json.dumps(arguments)})
    stop = {"stop_reason": "tool_use" if asked else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 40 + len(asked)}}
    yield {"type": "message_stop"}


def _block(index: int, start: dict[str, Any], delta: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _split(parts: list[bytes], count: int) -> list[bytes]:
    ends = [len(parts) * n // count for n in range(count + 1)]
    return [b"".join(parts[start:end]) for start, end in itertools.pairwise(ends)]


def _refusal(fault: str) -> web.Response:
    headers = {"retry-after": "1"} if fault == "429" else {}
    return web.json_response(_error(REFUSALS[fault]), status=int(fault), headers=headers)


def _error(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "for the test"}, "request_id": "req_x"}


def _wire(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def finish_file(log: Path) -> Path:
    """The file that ends all runs when it exists: each at its next reply, but not before its second."""
    return log.with_name("finish")


async def serve(behaviour: Behaviour, path: Path) -> None:
    with path.open("a", buffering=1) as log:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/{worker}/v1/messages", Server(behaviour, log).handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, keepalive_timeout=300)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1_024).start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--latency-s", type=float, default=1.0)
    parser.add_argument("--fault-rate", type=float, default=0.0)
    parser.add_argument("--stall-s", type=float, default=30.0)
    asked = parser.parse_args()
    behaviour = Behaviour(
        asked.seed, asked.turns, asked.latency_s, asked.fault_rate, asked.stall_s, finish_file(asked.log)
    )
    asyncio.run(serve(behaviour, asked.log))


if __name__ == "__main__":
    main()
