"""The researcher on documents made up here, over the real SDK."""

from anthropic import AsyncAnthropic
from support.moss_library import DOCUMENTS, TOPIC, Conversation, Library, client_of

from chiron_workers.offline import OfflineServer
from chiron_workers.toolkit.function_tool import tool_of
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.tools.web import web_fetch, web_search


async def test_what_is_stored_stands_word_for_word_in_the_document_it_names(
    conversation: Conversation,
) -> None:
    await conversation.ask(TOPIC)

    facts = conversation.library.facts
    assert facts
    for fact in facts:
        text = DOCUMENTS[fact["source_url"]][1]
        assert fact["quote"] in text
        assert fact["content"] == " ".join(fact["quote"].split())


async def test_calls_fit_the_schemas_of_the_tools(conversation: Conversation) -> None:
    await conversation.ask(TOPIC)

    tools = {"web_search": web_search, "web_fetch": web_fetch, "store_knowledge": store_knowledge}
    assert {name for name, _ in conversation.library.calls} == tools.keys()
    for name, arguments in conversation.library.calls:
        assert tool_of(tools[name]).validate(arguments) == arguments
    fact = conversation.library.facts[0]
    assert fact["subject_id"] == "caves-of-tarvin"
    assert fact["topic_path"] == "How long does glimmer moss glow?"
    assert fact["source_score"] == 0.85


async def test_each_step_makes_its_calls_in_one_reply_and_the_last_one_cites(
    conversation: Conversation,
) -> None:
    answer = await conversation.ask(TOPIC)

    steps = [
        [block.name for block in reply.content if block.type == "tool_use"] for reply in conversation.replies
    ]
    assert steps == [
        ["web_search"] * 2,
        ["web_fetch"] * 3,
        ["store_knowledge"] * len(conversation.library.facts),
        [],
    ]
    facts = conversation.library.facts
    assert answer.startswith(f"- {facts[0]['content']} [1]")  # reports begin with the first sentence
    assert "no language model" in answer.splitlines()[-1]
    assert len(facts) > 4
    for fact in facts[:4]:
        assert fact["content"] in answer
        assert fact["source_url"] in answer
    assert not any(fact["content"] in answer for fact in facts[4:])
    assert f"{len(facts) - 4} more statement" in answer


async def test_two_documents_that_agree_outweigh_one_that_does_not(conversation: Conversation) -> None:
    answer = await conversation.ask(TOPIC)

    glowing = [fact for fact in conversation.library.facts if "glows" in fact["content"]]
    confidence = {fact["content"].split()[4]: fact["confidence"] for fact in glowing}
    assert confidence["14"] == 0.567  # 2 documents x 0.85 / 3 assertions
    assert confidence["9"] == 0.283  # 1 x 0.85 / 3
    assert "Sources disagree" in answer


async def test_code_and_page_furniture_are_never_facts(conversation: Conversation) -> None:
    await conversation.ask("Research topic: Glimmer moss")

    text = " ".join(fact["content"] for fact in conversation.library.facts)
    assert "pale plant" in text
    assert not any(word in text for word in ("variable", "in code", "newsletter", "rights"))


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

    assert conversation.library.facts[-1]["source_url"] == "shelf:30/bridges"
    assert "seven arches" in answer


async def test_nothing_found_is_said_and_nothing_stored(conversation: Conversation) -> None:
    answer = await conversation.ask("Research topic: Migration of quartz herons")

    assert "No sources were found" in answer
    assert not conversation.library.facts


async def test_without_a_search_tool_it_says_so(conversation: Conversation) -> None:
    conversation.tools = []

    assert "No tool for searching sources was offered" in await conversation.ask(TOPIC)


async def test_a_call_is_made_once_more_after_an_error_that_passes_by_itself(
    conversation: Conversation,
) -> None:
    conversation.library.broken = {
        "web_search": ["The search is temporarily away."],
        "store_knowledge": ["The quote does not stand in the source."],
    }

    await conversation.ask(TOPIC)

    facts = [arguments for name, arguments in conversation.library.calls if name == "store_knowledge"]
    searches = [arguments for name, arguments in conversation.library.calls if name == "web_search"]
    assert len(facts) == len(conversation.library.facts) + 1
    assert len(searches) == 3
    assert searches[2] == searches[0]


async def test_errors_that_stay_are_counted_in_the_answer(conversation: Conversation) -> None:
    conversation.library.broken["web_fetch"] = ["The document is damaged."] * 10

    answer = await conversation.ask(TOPIC)

    assert "3 of the calls to web_fetch failed" in answer
    assert not conversation.library.facts


async def test_for_each_statement_that_was_there_a_further_one_is_looked_for(
    conversation: Conversation,
) -> None:
    scenes = ("green in wells of chalk", "blue under bridges at night", "amber near salted bread", "white beside goats",
              "violet above frozen lakes", "red after thunder", "pink in copper kettles", "brown on old carts")  # fmt: skip
    sentences = [f"Glimmer moss glows {scene}." for scene in scenes]
    documents = {
        f"shelf:{n}/moss": ("Moss", f"{sentences[n]} {sentences[n + 4]}") for n in range(len(scenes) // 2)
    }
    first, second = conversation.library, Library(documents=documents)
    first.documents = documents
    await conversation.ask(TOPIC)
    contents = [fact["content"] for fact in first.facts]
    second.receipts = {
        contents[0]: {"status": "duplicate"},
        contents[1]: {"status": "joined", "topic_path": "Another topic"},
        contents[2]: {"status": "joined", "topic_path": "How long does glimmer moss glow?"},
    }
    async with client_of(OfflineServer()) as client:
        await Conversation(client, second).ask(TOPIC)
    later_contents = [fact["content"] for fact in second.facts]
    assert later_contents[: len(contents)] == contents
    assert len(set(later_contents)) == len(later_contents) == len(contents) + 2


async def test_a_document_that_has_said_enough_of_a_topic_is_asked_for_no_more(
    client: AsyncAnthropic,
) -> None:
    scenes = ("green in wells of chalk", "blue under bridges at night", "amber near salted bread", "white beside goats",
              "violet above frozen lakes", "red after thunder")  # fmt: skip
    text = " ".join(f"Glimmer moss glows {scene}." for scene in scenes)
    there = {"status": "duplicate", "topic_path": "How long does glimmer moss glow?"}
    for receipt, count in ((there, 4), (there | {"topic_path": "Another topic"}, len(scenes))):
        library = Library(documents={"shelf:0/moss": ("Moss", text)})
        library.receipts = {f"Glimmer moss glows {scene}.": receipt for scene in scenes}
        await Conversation(client, library).ask(TOPIC)
        assert len(library.facts) == count


async def test_a_word_in_quotation_marks_is_asked_about_however_common_it_is(
    conversation: Conversation,
) -> None:
    text = 'The "for" statement repeats a suite of words. The "if" statement chooses between suites of words.'
    conversation.library.documents = {"shelf:0/statements": ("Statements", text)}
    await conversation.ask('Research topic: The "for" statement')
    assert conversation.library.facts[0]["content"].startswith('The "for" statement')


async def test_a_long_document_is_read_on_where_the_tool_says_it_goes_on(conversation: Conversation) -> None:
    conversation.library = Library(window_chars=300)

    await conversation.ask("Research topic: Shepherds who burn glimmer moss against moths")

    assert any("keep moths away" in fact["content"] for fact in conversation.library.facts)


async def test_one_call_at_a_time_when_the_request_asks_for_it(conversation: Conversation) -> None:
    conversation.options = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}

    await conversation.ask(TOPIC)

    counts = [sum(block.type == "tool_use" for block in reply.content) for reply in conversation.replies]
    assert counts[-1] == 0
    assert set(counts[:-1]) == {1}
    assert conversation.library.facts


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
