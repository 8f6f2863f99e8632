"""A stream that is scanned as bytes makes the message that the SDK's decoder and json make of it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from anthropic._streaming import SSEDecoder
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.model import event_stream
from chiron_workers.model.event_stream import BOM, EventScanner
from chiron_workers.model.faults import StatusError, StreamCut
from chiron_workers.model.stream import Accumulation

Event = dict[str, Any]
START: Event = {
    "type": "message_start",
    "message": {"model": "m", "content": [], "usage": {"input_tokens": 1}},
}
END: Event = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}
STOP: Event = {"type": "message_stop"}
FIELDS = {
    "text_delta": "text",
    "input_json_delta": "partial_json",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}


def block(kind: str, index: int = 0) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind}}


def delta(text: Any, *, kind: str = "text_delta", field: str = "", index: int = 0) -> Event:
    parts = {"type": kind, field or FIELDS[kind]: text}
    return {"type": "content_block_delta", "index": index, "delta": parts}


def wire(*events: Event) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event, separators=(',', ':'))}\n\n".encode()
        for event in events
    )


def scanned(chunks: list[bytes], headers: Mapping[str, str] | None = None) -> tuple[Any, ...]:
    accumulation, words = Accumulation(), list[str]()
    scanner = EventScanner(accumulation, headers or {})
    for chunk in chunks:
        scanner.feed(chunk, words.append)
        if accumulation.is_ended:
            break
    return accumulation.message(), accumulation.problem, "".join(words)


def scanned_unheard(chunks: list[bytes]) -> tuple[Any, ...]:
    accumulation = Accumulation()
    scanner = EventScanner(accumulation, {})
    for chunk in chunks:
        scanner.feed(chunk, None)
        if accumulation.is_ended:
            break
    return accumulation.message(), accumulation.problem


def decoded(chunks: list[bytes]) -> tuple[Any, ...]:
    accumulation, words = Accumulation(), list[str]()
    for event in SSEDecoder().iter_bytes(iter(chunks)):
        if event.event == "error":
            raise StatusError(200, {}, event.data)
        if event.data and event.event != "ping":
            words.append(accumulation.add_json(event.data))
        if accumulation.is_ended:
            break
    return accumulation.message(), accumulation.problem, "".join(words)


def outcome(read: Any, chunks: list[bytes]) -> Any:
    try:
        return json.dumps(read(chunks))
    except (StreamCut, StatusError, ValueError) as error:
        return type(error)


# Characters that JSON, UTF-8 or the stream itself give a meaning, and some that none does.
LETTERS = st.sampled_from(
    [
        *'ab"\\/{}[]:,\n\r\t\b\0 ',
        "\u007f",
        "\u00e9",
        "\u20ac",
        "\u2028",
        "\ufeff",
        "\U0001f327",
        "\ud83d",
        "\ude00",
    ]
)
TEXTS = st.lists(LETTERS, max_size=12).map("".join)
INDEXES = st.sampled_from([0, 0, 0, 1, 1, 2, 7, -1, None, "0", 1.0, True])
DELTAS = st.builds(
    delta,
    st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from([None, 3, ["x"], {"text": "x"}, True])),
    kind=st.sampled_from([*FIELDS, *FIELDS, "citations_delta", "newest_delta"]),
    field=st.sampled_from(["text", "partial_json", "thinking", "signature", "citation", "other"]),
    index=INDEXES,
)
PLAIN_DELTAS = st.builds(delta, TEXTS, kind=st.sampled_from(list(FIELDS)), index=st.sampled_from([0, 0, 1]))
ODD = st.sampled_from(
    [
        START,
        STOP,
        END,
        {"type": "ping"},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start"},
        {"type": "newest", "extra": [1]},
        {"kind": "nothing"},
        {"type": "content_block_delta", "index": 0},
        {"type": "message_delta", "delta": None},
    ]
)
BLOCKS = st.builds(block, st.sampled_from(["text", "tool_use", "thinking", "newest"]), INDEXES)
STREAMS = st.one_of(
    st.builds(
        lambda deltas: [START, block("text"), block("tool_use", 1), *deltas, END, STOP],
        st.lists(PLAIN_DELTAS),
    ),
    st.builds(
        lambda events: [START, block("text"), *events, END, STOP],
        st.lists(st.one_of(PLAIN_DELTAS, DELTAS, BLOCKS, ODD)),
    ),
    st.lists(st.one_of(PLAIN_DELTAS, BLOCKS, ODD)),
)


@st.composite
def chunked_streams(draw: st.DrawFn) -> list[bytes]:
    """A stream as some server may write it, cut anywhere."""
    line_end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]))
    parts = []
    for event in draw(STREAMS):
        keys = list(event) if draw(st.booleans()) else draw(st.permutations(list(event)))
        separators = draw(st.sampled_from([(",", ":"), (",", ":"), (", ", ": "), (" , ", " : ")]))
        text = json.dumps(
            {key: event[key] for key in keys}, separators=separators, ensure_ascii=draw(st.booleans())
        )
        text = draw(st.sampled_from([text, text, text[:-1] + "   }", text + "  ", text[:-1], text + "x"]))
        name = draw(st.sampled_from([event.get("type", "x")] * 6 + ["ping", "", "odd"]))
        head = draw(
            st.sampled_from(
                [f"event: {name}\n"] * 4 + [f"event:{name}\n", "", ": a comment\n", "id: 7\nretry: 5\n"]
            )
        )
        lines = (
            f"{head}data: {text}\n\n"
            if draw(st.integers(0, 5))
            else f"{head}data:{text[:5]}\ndata:{text[5:]}\n\n"
        )
        parts.append(lines.replace("\n", line_end).encode(errors="replace"))
    stream = b"".join(parts)
    if draw(st.integers(0, 9)) == 0:
        stream = stream.replace(b"a", b"\xff", 1)
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


@given(chunked_streams())
def test_any_stream_cut_anywhere_makes_the_same_message(chunks: list[bytes]) -> None:
    assert outcome(scanned, chunks) == outcome(decoded, chunks)
    unheard = outcome(scanned_unheard, chunks)
    heard = outcome(lambda chunks: scanned(chunks)[:2], chunks)
    assert unheard == heard


def cuts_in_two(stream: bytes) -> Iterator[list[bytes]]:
    for place in range(len(stream) + 1):
        yield [stream[:place], stream[place:]]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_stream_may_be_cut_between_any_two_of_its_bytes(line_end: bytes) -> None:
    events = [START, block("text"), delta("It "), {"type": "ping"}, delta('"\u00e9\U0001f327"\n'), END, STOP]
    stream = b": hello\n\n" + wire(*events).replace(b"data: {", b"data: {\ndata:")
    stream = stream.replace(b"\n", line_end)
    whole = scanned([stream])
    assert whole[0]["content"] == [{"type": "text", "text": 'It "\u00e9\U0001f327"\n'}]
    assert all(scanned(chunks) == whole for chunks in cuts_in_two(stream))
    assert scanned([stream[place : place + 1] for place in range(len(stream))]) == whole


def test_a_byte_order_mark_is_passed_over() -> None:
    stream = BOM + wire(START, block("text"), delta("x"), END, STOP).removeprefix(b"event: message_start\n")
    assert all(scanned(chunks)[2] == "x" for chunks in cuts_in_two(stream))


def test_halves_of_a_surrogate_pair_in_two_deltas_are_no_pair() -> None:
    stream = wire(START, block("text"), delta("a\ud83d"), delta("\ude00b"), END, STOP)
    assert scanned([stream])[0]["content"] == [{"type": "text", "text": "a??b"}]
    assert outcome(scanned, [stream]) == outcome(decoded, [stream])


def test_bytes_that_are_text_only_together_are_none() -> None:
    stream = wire(START, block("text"), delta("aX"), delta("Yb"), END, STOP)
    with pytest.raises(UnicodeDecodeError):
        scanned([stream.replace(b"X", b"\xc3").replace(b"Y", b"\xa9")])


def test_the_deltas_of_a_reply_are_not_read_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def refuse(_: Accumulation, text: str) -> str:
        texts.append(text)
        return ""

    monkeypatch.setattr(Accumulation, "add_json", refuse)
    accumulation = Accumulation(_blocks=[{"type": "text"}, {"type": "tool_use"}])
    padded = wire(delta("It "), delta('{"a', kind="input_json_delta", index=1)).replace(b"}}", b"}   }   ")
    scanner = EventScanner(accumulation, {})
    for place in range(0, len(padded), 7):
        scanner.feed(padded[place : place + 7], None)
    assert texts == []


def test_an_error_in_mid_stream_has_the_headers_of_its_response() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    with pytest.raises(StatusError) as raised:
        scanned([wire(START, error)], {"retry-after": "7"})
    assert (raised.value.status, raised.value.type, raised.value.headers["retry-after"]) == (
        200,
        "overloaded_error",
        "7",
    )


@pytest.mark.parametrize("event", [b"data: " + b"x" * 2_000, b"data: x\n" * 300, b"\r" + b"x" * 2_000])
def test_an_event_that_does_not_end_is_cut_off(event: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "EVENT_MAX_BYTES", 1_000)
    with pytest.raises(StreamCut, match="larger than"):
        scanned([wire(START), *(event[place : place + 10] for place in range(0, len(event), 10))])


def test_an_event_of_many_megabytes_is_read() -> None:
    large = block("web_search_tool_result") | {"index": 0}
    large["content_block"]["content"] = "x" * 8_000_000
    stream = wire(START, large, END, STOP)
    chunks = [stream[place : place + 65_536] for place in range(0, len(stream), 65_536)]
    assert len(scanned(chunks)[0]["content"][0]["content"]) == 8_000_000
