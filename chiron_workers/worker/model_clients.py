from types import TracebackType
from typing import Self

from chiron_workers.model import Model
from chiron_workers.model.admission import Traffic
from chiron_workers.offline import ServerThread, start_in_thread
from chiron_workers.runs.leases import Run
from chiron_workers.settings import OFFLINE_MODEL, Settings


class Endpoints:
    """The Messages API that a run's model is behind; the offline researcher starts when it is first wanted.

    `traffic` is what the calls of all models here heed.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.traffic = Traffic(settings)
        self._model = Model(settings, self.traffic)
        self._offline: Model | None = None
        self._offline_thread: ServerThread | None = None

    def of(self, run: Run) -> Model:
        """The client for a run's model."""
        if run.model != OFFLINE_MODEL:
            return self._model
        if self._offline is None:
            self._offline_thread = start_in_thread()
            self._offline = Model(
                self._settings, self.traffic, base_url=self._offline_thread.url, api_key=OFFLINE_MODEL
            )
        return self._offline

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._model.close()
        if self._offline is not None and self._offline_thread is not None:
            await self._offline.close()
            self._offline_thread.stop()
        await self.traffic.close()
