"""An event loop in a thread of its own, for servers beside tests that are no coroutines."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

Value = TypeVar("Value")

ANSWER_S = 90.0  # keeps a test from hanging


class LoopThread:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="servers", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Run a coroutine in the loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(ANSWER_S)

    @contextmanager
    def entered(self, context: AbstractAsyncContextManager[Value]) -> Iterator[Value]:
        """The context's value; it is entered and left in the loop."""
        yield self.run(context.__aenter__())
        self.run(context.__aexit__(None, None, None))

    def close(self) -> None:
        self.run(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ANSWER_S)
        self._loop.close()


async def _cancel_others() -> None:
    # Handlers of servers that are closed may still wait for what never comes.
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def loop_thread() -> Iterator[LoopThread]:
    """Runs until the block ends."""
    thread = LoopThread()
    try:
        yield thread
    finally:
        thread.close()
