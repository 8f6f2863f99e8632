from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.db.validation import parse_id
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

SQL = load(__file__)


@tool(needs_run=True)
async def record_write(store: Store, *, node_id: str, mark: str, call: int) -> str:
    """Write one more row each time it runs, without a lock: a call that ran twice shows.

    Args:
        node_id: Of what the row is.
        mark: What stands in the row.
        call: The number of the model call that asked for it.
    """
    args = {
        "id": ids.new_id(),
        "node_id": parse_id(node_id, field="node_id"),
        "mark": mark,
        "call": str(call),
    }
    await store.session.write(SQL["write"], args | {"run_id": store.caller.run_id})
    return mark
