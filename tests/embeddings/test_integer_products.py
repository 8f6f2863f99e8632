from pathlib import Path

import pytest

from chiron_workers.embeddings import integer_products, minilm
from chiron_workers.embeddings.integer_products import is_fast_here

TEXTS = [
    "!!!",
    "x",
    "The lighthouse was opened in 1823.",
    "Guidelines recommend two doses of 20 mg a day, but only for adults. " * 6,
    "日本語 and naïve café, 3.5 % of 10⁵",
    "word " * 300,
]


def vectors_of(
    monkeypatch: pytest.MonkeyPatch, *, is_fast: bool, together: bool = False
) -> list[list[float]]:
    monkeypatch.setattr(minilm, "is_fast_here", lambda: is_fast)
    network = minilm._load(None)
    tokens = [minilm._tokens(network, minilm._Request(text)) for text in TEXTS]
    batches = [tokens] if together else [[each] for each in tokens]
    return [vector for batch in batches for vector in minilm._vectors(network, batch)]


@pytest.mark.skipif(not is_fast_here(), reason="this processor has no instructions for it")
@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
def test_the_vectors_are_those_of_the_model_in_floats(monkeypatch, together: bool):
    in_integers = vectors_of(monkeypatch, is_fast=True, together=together)
    in_floats = vectors_of(monkeypatch, is_fast=False)
    pairs = zip(in_integers, in_floats, strict=True)
    cosines = [sum(a * b for a, b in zip(one, other, strict=True)) for one, other in pairs]
    assert min(cosines) > 0.99999


@pytest.mark.parametrize(
    ("flags", "is_fast"), [("fpu sse avx2", False), ("avx2 avx_vnni", True), ("avx512_vnni fpu", True)]
)
def test_the_processor_says_whether_it_multiplies_bytes(tmp_path: Path, monkeypatch, flags, is_fast):
    (tmp_path / "cpuinfo").write_text(f"processor : 0\nbugs : avx_vnni\nflags : {flags}\n")
    monkeypatch.setattr(integer_products, "CPU", tmp_path / "cpuinfo")
    assert is_fast_here() is is_fast


def test_a_machine_that_does_not_say_computes_in_floats(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(integer_products, "CPU", tmp_path / "none")
    assert not is_fast_here()
