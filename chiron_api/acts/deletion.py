"""Deletion of batches and runs, for good."""

from http import HTTPStatus
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Declare
from chiron_api.acts.inputs import Input
from chiron_api.acts.steering import BATCHES, PROBLEMS, RUNS, STEERING, Kind
from chiron_api.services import Services
from chiron_workers.batches.delete import Deletion, delete


class DeleteOptions(Input):
    """`with_facts` also deletes the facts that the runs found first."""

    with_facts: bool = Field(False, description="Also delete the facts that were found first by it.")


def _act(kind: Kind) -> Declare:
    return STEERING.act(
        f"{kind.noun}.delete",
        f"DELETE /v1/{kind.noun}/{{id}}",
        f"Delete a {kind.target.name}",
        client="delete",
        status=HTTPStatus.NO_CONTENT,
        problems=PROBLEMS,
        is_owned=True,
        target=kind.target,
    )


async def _delete(kind: Kind, services: Services, target_id: UUID, options: DeleteOptions) -> Deletion:
    await kind.find(services.pool, target_id)  # NotFound for an id of the other kind
    return await delete(services.pool, target_id, with_facts=options.with_facts)


@_act(BATCHES)
async def delete_batch(services: Services, id: UUID, options: DeleteOptions) -> Deletion:
    """Delete a finished batch for good, with its runs, their journals and events; 409 while one of them is open.

    What it found stays unless `with_facts` says otherwise. A batch goes with the last of its runs.
    """
    return await _delete(BATCHES, services, id, options)


@_act(RUNS)
async def delete_run(services: Services, id: UUID, options: DeleteOptions) -> Deletion:
    """Delete a finished run, and its batch with the last one; 409 while it is open."""
    return await _delete(RUNS, services, id, options)
