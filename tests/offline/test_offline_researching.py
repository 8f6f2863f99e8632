"""The researcher on documents and tools made up here, over the real SDK."""

import json
from typing import Any

from support.moss_library import DOCUMENTS, SYSTEM, TOOLS, TOPIC, Conversation, Library, client_of

from chiron_workers.offline import OfflineServer


async def test_what_is_stored_stands_word_for_word_in_the_document_it_names(
    conversation: Conversation,
) -> None:
    await conversation.ask(TOPIC)

    kept = conversation.library.kept
    assert kept
    for fact in kept:
        text = DOCUMENTS[fact["drawn_from"]][1]
        assert fact["word_for_word"] in text
        assert fact["assertion"] == " ".join(fact["word_for_word"].split())


async def test_arguments_follow_from_the_tools_own_definitions(conversation: Conversation) -> None:
    await conversation.ask(TOPIC)

    required = {tool["name"]: set(tool["input_schema"]["required"]) for tool in TOOLS}
    assert {name for name, _ in conversation.library.calls} == {"peruse", "unroll", "jot"}
    for name, arguments in conversation.library.calls:
        assert required[name] <= arguments.keys()
    fact = conversation.library.kept[0]
    assert fact["realm"] == "caves-of-tarvin"
    assert fact["filed_under"] == ["How long does glimmer moss glow?"]
    assert 0 < fact["sureness"] <= 1 < fact["standing"] <= 100


async def test_each_step_makes_its_calls_in_one_reply_and_the_last_one_cites(
    conversation: Conversation,
) -> None:
    answer = await conversation.ask(TOPIC)

    steps = [
        [block.name for block in reply.content if block.type == "tool_use"] for reply in conversation.replies
    ]
    assert steps == [["peruse"] * 2, ["unroll"] * 3, ["jot"] * len(conversation.library.kept), []]
    assert "no language model" in answer.splitlines()[0]
    for fact in conversation.library.kept:
        assert fact["assertion"] in answer
        assert fact["drawn_from"] in answer


async def test_two_documents_that_agree_outweigh_one_that_does_not(conversation: Conversation) -> None:
    answer = await conversation.ask(TOPIC)

    glowing = [fact for fact in conversation.library.kept if "glows" in fact["assertion"]]
    sureness = {fact["assertion"].split()[4]: fact["sureness"] for fact in glowing}
    assert sureness["14"] == 0.567  # 2 documents x 0.85 / 3 assertions
    assert sureness["9"] == 0.283  # 1 x 0.85 / 3
    assert "Sources disagree" in answer


async def test_code_and_page_furniture_are_never_facts(conversation: Conversation) -> None:
    await conversation.ask("Research topic: Glimmer moss")

    told = " ".join(fact["assertion"] for fact in conversation.library.kept)
    assert "pale plant" in told
    assert not any(word in told for word in ("variable", "in code", "newsletter", "rights"))


async def test_the_same_request_gets_the_same_reply(conversation: Conversation) -> None:
    await conversation.ask(TOPIC)
    async with client_of(OfflineServer()) as other_client:
        other = Conversation(other_client, Library())
        await other.ask(TOPIC)

    assert [reply.model_dump() for reply in conversation.replies] == [
        reply.model_dump() for reply in other.replies
    ]


async def test_a_further_question_is_answered_from_what_was_read(conversation: Conversation) -> None:
    await conversation.ask(TOPIC)
    before = len(conversation.library.calls)

    answer = await conversation.ask("Who described glimmer moss?")

    assert "Dr. Orla Venn in 1871" in answer
    assert "shelf:7/glimmer-moss" in answer
    assert len(conversation.library.calls) == before


async def test_a_question_beyond_what_was_read_is_researched(conversation: Conversation) -> None:
    await conversation.ask(TOPIC)

    answer = await conversation.ask("How many arches has the old bridge?")

    assert conversation.library.kept[-1]["drawn_from"] == "shelf:30/bridges"
    assert "seven arches" in answer


async def test_nothing_found_is_said_and_nothing_stored(conversation: Conversation) -> None:
    answer = await conversation.ask("Research topic: Migration of quartz herons")

    assert "No sources were found" in answer
    assert not conversation.library.kept


async def test_without_a_search_tool_it_says_so(conversation: Conversation) -> None:
    conversation.tools = []

    assert "No tool for searching sources was offered" in await conversation.ask(TOPIC)


async def test_an_error_that_names_an_optional_argument_is_mended_once(conversation: Conversation) -> None:
    conversation.library.broken["jot"] = [
        "word_for_word: is not wanted here.",
        "word_for_word: is not wanted here.",
    ]

    await conversation.ask(TOPIC)

    jots = [arguments for name, arguments in conversation.library.calls if name == "jot"]
    assert len(jots) == len(conversation.library.kept) + 2
    assert sum("word_for_word" not in fact for fact in conversation.library.kept) == 2


async def test_errors_that_stay_are_counted_in_the_answer(conversation: Conversation) -> None:
    conversation.library.broken["unroll"] = ["The document is damaged."] * 10

    answer = await conversation.ask(TOPIC)

    assert "3 of the calls to unroll failed" in answer
    assert not conversation.library.kept


async def test_a_long_document_is_read_on_where_the_tool_says_it_goes_on(conversation: Conversation) -> None:
    class Scrolls(Library):
        def run(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
            result, failed = super().run(name, arguments)
            if name != "unroll":
                return result, failed
            start = arguments.get("line", 0)
            text = json.loads(result)["scroll"]
            end = start + 300
            return json.dumps(
                {"scroll": text[start:end], "next_line": end if end < len(text) else None}
            ), failed

    tools = json.loads(json.dumps(TOOLS))
    tools[2]["input_schema"]["properties"]["line"] = {
        "type": "integer",
        "description": "Position to begin at.",
    }
    conversation.library, conversation.tools = Scrolls(), tools

    await conversation.ask("Research topic: Shepherds who burn glimmer moss against moths")

    assert any("keep moths away" in fact["assertion"] for fact in conversation.library.kept)


async def test_one_call_at_a_time_when_the_request_asks_for_it(conversation: Conversation) -> None:
    conversation.options = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}

    await conversation.ask(TOPIC)

    counts = [sum(block.type == "tool_use" for block in reply.content) for reply in conversation.replies]
    assert counts[-1] == 0
    assert set(counts[:-1]) == {1}
    assert conversation.library.kept


async def test_a_reply_longer_than_max_tokens_is_cut(conversation: Conversation) -> None:
    conversation.tools, conversation.options = [], {"max_tokens": 5}
    conversation.messages = [{"role": "user", "content": TOPIC}]

    reply = await conversation.reply()

    assert (reply.stop_reason, reply.usage.output_tokens) == ("max_tokens", 5)


async def test_a_prefix_seen_before_is_read_from_the_cache(conversation: Conversation) -> None:
    conversation.options = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}

    await conversation.ask(TOPIC)

    usages = [reply.usage for reply in conversation.replies]
    written = next(n for n, usage in enumerate(usages) if usage.cache_creation_input_tokens)
    first, second = usages[written : written + 2]
    assert (first.cache_read_input_tokens, first.input_tokens) == (0, 0)
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    assert second.cache_creation and second.cache_creation.ephemeral_1h_input_tokens


async def test_tools_may_answer_in_plain_text(conversation: Conversation) -> None:
    class Plain(Library):
        def run(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
            self.calls.append((name, arguments))
            match name:
                case "peruse":
                    return "1. Moss https://moss.example/docs/glow (best)\n2. None", False
                case "unroll":
                    return (
                        "<page>\nGlimmer moss glows for 14 hours after rain has fallen on it.\n</page>",
                        False,
                    )
            self.kept.append(arguments)
            return "ok", False

    conversation.library = Plain()

    await conversation.ask(TOPIC)

    assert [(fact["drawn_from"], fact["word_for_word"]) for fact in conversation.library.kept] == [
        ("https://moss.example/docs/glow", "Glimmer moss glows for 14 hours after rain has fallen on it.")
    ]


def test_the_code_names_no_tool_of_ours() -> None:
    from pathlib import Path

    import chiron_workers.offline

    folder = Path(chiron_workers.offline.__path__[0])
    written = "".join(path.read_text() for path in folder.iterdir() if path.suffix in (".py", ".txt"))
    for name in (
        "web_search",
        "web_fetch",
        "store_knowledge",
        "vector_search",
        "subject_id",
        "topic_path",
        "corpus://",
    ):
        assert name not in written
    assert SYSTEM not in written
