"""What a run is told of its subject before it is asked: the learning goal, how deep it goes, and how much is known."""

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.quotation import quoted
from chiron_workers.roles.assignment import Assignment
from chiron_workers.roles.role import role_of

SQL = load(__file__)
FIELD = "$background"


async def background_of(pool: Pool, run: Assignment) -> str:
    """A paragraph on the run's subject; empty where no goal was saved, or the run's role does not ask for it."""
    if FIELD not in role_of(run.role).question:
        return ""
    async with pool.connection() as connection:
        cursor = await connection.execute(SQL["background"], {"subject_id": run.subject_id})
        row = await cursor.fetchone()
    if row is None:
        return ""
    goal = f"Subject: {row['title']}\nDepth: {row['target_depth']}\nGoal: {row['purpose_statement']}"
    return "\n".join(
        [
            "The subject is learnt for a goal, to a depth:",
            quoted("goal", goal),
            f"So far {row['facts']:,} facts are known, and its coverage map has {row['nodes']:,} nodes.",
        ]
    )
