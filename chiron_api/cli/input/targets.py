from typing import TypeVar
from uuid import UUID

from chiron_api.acts.act import Act
from chiron_api.services import open_services
from chiron_workers.batches.references import Referent, id_of
from chiron_workers.settings import settings

Outcome = TypeVar("Outcome")


async def act_on(act: Act[[UUID], Outcome], text: str, referent: Referent) -> tuple[UUID, Outcome]:
    """Do an act on what a text means, an id or the beginning of one; the id and what comes of it."""
    async with open_services(settings(), pool_size=2) as services:
        target_id = await id_of(services.pool, text, referent)
        return target_id, await act.command(services, target_id)
