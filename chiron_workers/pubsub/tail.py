from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

from chiron_workers.db.connect import Pool
from chiron_workers.pubsub.streams import Streams
from chiron_workers.runs.events import Event


async def tail(
    pool: Pool,
    redis_url: str,
    *,
    batch_id: UUID | None = None,
    run_id: UUID | None = None,
    after: int = 0,
    with_text: bool = False,
) -> AsyncGenerator[Event]:
    """Yield the events of a run or of a batch: first those that are stored, then each as it happens, until the end.

    Each run's events come in order of seq, none missing and none twice, also across outages of Redis and
    Postgres. Without Redis they come a second later. Wrap it in `contextlib.aclosing` to leave it early.

    Args:
        after: Of a run, leave out the events up to this seq.
        with_text: Also pass on text deltas, which have no seq and are lost while nobody listens.

    Raises:
        NotFound: There is no such run or batch (any more).
    """
    streams = Streams(pool, redis_url)
    position = str(after) if run_id and after else None
    stream = await streams.open(batch_id=batch_id, run_id=run_id, after=position, with_text=with_text)
    async with stream, aclosing(stream.pages()) as pages:
        async for items in pages:
            for item in items:
                yield item.event
