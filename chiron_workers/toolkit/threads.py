import asyncio
import contextvars
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

THREADS_MAX = 64  # of one tool: those that hang must not become more and more

_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, defaultdict[str, asyncio.Semaphore]] = (
    WeakKeyDictionary()
)


async def in_thread(function: Callable[[], Any], *, name: str) -> Any:
    """What a plain function returns, without holding the event loop.

    A thread cannot be cancelled: whoever waits is let go at once, the function ends in its own time and its result
    is dropped. Each call has a thread of its own that no exit waits for, so a function that hangs holds up nothing
    but later calls of its own, once 64 of them hang.
    """
    loop = asyncio.get_running_loop()
    slot = _slots.setdefault(loop, defaultdict(lambda: asyncio.Semaphore(THREADS_MAX)))[name]
    await slot.acquire()
    future: asyncio.Future[Any] = loop.create_future()

    def resolve(result: Any, error: Exception | None) -> None:
        slot.release()
        if future.done():  # nobody waits any more
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        result: Any = None
        error: Exception | None = None
        try:
            result = function()
        except StopIteration:  # a future cannot carry it: whoever waits would wait for ever
            error = RuntimeError("the tool stopped with StopIteration")
        except Exception as exception:  # noqa: BLE001  # the caller gets it
            error = exception
        except BaseException as exception:  # noqa: BLE001  # a SystemExit, say, must not leave the caller waiting
            error = RuntimeError(f"the tool raised {exception!r}")
        if not loop.is_closed():
            loop.call_soon_threadsafe(resolve, result, error)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name=f"tool-{name}", daemon=True).start()
    return await future
