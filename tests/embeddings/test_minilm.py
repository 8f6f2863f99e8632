import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support import bare_interpreter

from chiron_workers.embeddings import minilm as module
from chiron_workers.embeddings.minilm import BATCH_MAX, MiniLM
from chiron_workers.errors import ChironError


@pytest.fixture(scope="module")
def minilm() -> Iterator[MiniLM]:
    opened = MiniLM()
    yield opened
    asyncio.run(opened.close())


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_a_paraphrase_is_nearer_than_another_topic(minilm):
    asked, same, other = await minilm.embed(
        [
            "How does a garbage collector find objects that nobody uses?",
            "Unreachable memory is detected by tracing from the roots.",
            "The recipe calls for two cups of flour and a pinch of salt.",
        ]
    )
    assert cosine(asked, same) > cosine(asked, other) + 0.2


async def test_vectors_have_the_dimensions_of_the_space_and_length_one(minilm):
    vectors = await minilm.embed(["one", "", "   ", "日本語", "cut \ud83d in half", "x\x00y"])
    assert {len(vector) for vector in vectors} == {minilm.space.dimensions}
    assert [cosine(vector, vector) for vector in vectors] == pytest.approx([1.0] * 6)


async def test_no_texts_give_no_vectors(minilm):
    assert await minilm.embed([]) == []


async def test_many_texts_come_back_in_their_order_and_the_same_as_alone(minilm):
    texts = [f"{'word ' * (n * 7 % 23)} number {n}" for n in range(BATCH_MAX + 9)]
    together = await minilm.embed(texts)
    alone = [(await minilm.embed([text]))[0] for text in texts]
    assert [cosine(a, b) for a, b in zip(together, alone, strict=True)] == pytest.approx([1.0] * len(texts))


async def test_what_many_ask_at_once_goes_through_the_model_together(minilm, monkeypatch):
    await minilm.embed(["load the model"])
    sizes = []
    vectors = module._vectors

    def counted(network, texts):
        sizes.append(len(texts))
        return vectors(network, texts)

    monkeypatch.setattr(module, "_vectors", counted)
    await asyncio.gather(*(minilm.embed([f"question {n}"]) for n in range(40)))
    assert sum(sizes) == 40
    assert len(sizes) < 10
    assert max(sizes) <= BATCH_MAX


async def test_what_goes_through_the_model_together_is_about_as_long(minilm, monkeypatch):
    await minilm.embed(["load the model"])
    lengths = []
    vectors = module._vectors

    def measured(network, texts):
        lengths.append([len(tokens) for tokens in texts])
        return vectors(network, texts)

    monkeypatch.setattr(module, "_vectors", measured)
    texts = ["a word " * (1 if n % 2 else 20) for n in range(20)]
    await asyncio.gather(*(minilm.embed([text]) for text in texts))
    assert sum(map(len, lengths)) == 20
    assert all(min(batch) == max(batch) for batch in lengths)
    assert len(lengths) < 10


async def test_a_cancelled_request_leaves_nothing_that_waits(minilm):
    requests = [asyncio.create_task(minilm.embed([f"{'some words ' * n}"])) for n in range(1, 30)]
    await asyncio.sleep(0)
    for request in requests:
        request.cancel()
    await asyncio.gather(*requests, return_exceptions=True)
    assert len(await minilm.embed(["a question"])) == 1
    assert not minilm._waiting


async def test_a_small_request_does_not_wait_for_the_end_of_a_large_one(minilm):
    large = asyncio.create_task(minilm.embed([f"{'a longer text ' * 20} {n}" for n in range(100)]))
    await minilm.embed(["start of the queue"])
    await minilm.embed(["a question"])
    assert not large.done()
    large.cancel()
    await asyncio.gather(large, return_exceptions=True)
    assert len(await minilm.embed(["after a cancelled request"])) == 1


async def test_the_words_after_the_256th_token_are_not_seen(minilm):
    start = "word " * 300
    one, other = await minilm.embed([start, start + "something else entirely " * 5_000])
    assert cosine(one, other) == pytest.approx(1.0)


def test_loops_of_several_threads_share_one_model(minilm):
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda n: asyncio.run(minilm.embed([f"text {n % 2}"])), range(8)))
    assert cosine(found[0][0], found[2][0]) == pytest.approx(1.0)


async def test_another_model_file_is_refused_with_its_name(tmp_path: Path):
    (tmp_path / "model.onnx").write_bytes(b"something else")
    wrong = MiniLM(tmp_path / "model.onnx")
    with pytest.raises(ChironError, match=r"model\.onnx is not the expected one .*not 8199be6f"):
        await wrong.embed(["one"])
    await wrong.close()


def test_importing_the_package_loads_no_model_library():
    packages = bare_interpreter.run("import chiron_workers.embeddings").packages
    assert packages & {"onnxruntime", "tokenizers", "numpy", "aiohttp"} == set()
