import asyncio
import contextvars
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

THREADS_MAX = 64  # of one tool: those that hang must not become more and more

_places: WeakKeyDictionary[asyncio.AbstractEventLoop, defaultdict[str, asyncio.Semaphore]] = (
    WeakKeyDictionary()
)


async def in_thread(function: Callable[[], Any], *, name: str) -> Any:
    """What a plain function returns, without holding the event loop.

    A thread cannot be cancelled: whoever waits is let go at once, the function ends in its own time and its result
    is dropped. Each call has a thread of its own that no exit waits for, so a function that hangs holds up nothing
    but later calls of its own, once 64 of them hang.
    """
    loop = asyncio.get_running_loop()
    place = _places.setdefault(loop, defaultdict(lambda: asyncio.Semaphore(THREADS_MAX)))[name]
    await place.acquire()
    ended: asyncio.Future[Any] = loop.create_future()

    def tell(result: Any, error: Exception | None) -> None:
        place.release()
        if ended.done():  # nobody waits any more
            return
        if error is None:
            ended.set_result(result)
        else:
            ended.set_exception(error)

    def work() -> None:
        result: Any = None
        error: Exception | None = None
        try:
            result = function()
        except StopIteration:  # a future cannot carry it: whoever waits would wait for ever
            error = RuntimeError("the tool stopped with StopIteration")
        except BaseException as raised:  # noqa: BLE001  # whoever waits is told, also of SystemExit
            error = raised if isinstance(raised, Exception) else RuntimeError(f"the tool raised {raised!r}")
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, result, error)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name=f"tool-{name}", daemon=True).start()
    return await ended
