from typing import TYPE_CHECKING

from chiron_workers.model import Model
from chiron_workers.model.admission import Admission
from chiron_workers.runs.leases import Run
from chiron_workers.settings import OFFLINE_MODEL, Settings

if TYPE_CHECKING:
    from chiron_workers.offline import ServerThread


class ModelClients:
    """A client for the Messages API that a run's model is behind; the offline researcher starts at its first run.

    All of them share `admission`.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.admission = Admission(settings)
        self._model = Model(settings, self.admission)
        self._offline: Model | None = None
        self._offline_server: ServerThread | None = None

    def of(self, run: Run) -> Model:
        """The client for a run's model."""
        if run.model != OFFLINE_MODEL:
            return self._model
        if self._offline is None:
            from chiron_workers.offline import start_in_thread

            self._offline_server = start_in_thread()
            self._offline = Model(
                self._settings, self.admission, base_url=self._offline_server.url, api_key=OFFLINE_MODEL
            )
        return self._offline

    async def close(self) -> None:
        """Close the connections of all clients, and stop the offline researcher."""
        await self._model.close()
        if self._offline is not None and self._offline_server is not None:
            await self._offline.close()
            self._offline_server.stop()
        await self.admission.close()
