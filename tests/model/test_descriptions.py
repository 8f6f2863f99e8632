import asyncio

import pytest

from chiron_workers.model import descriptions
from chiron_workers.model.descriptions import Description, ModelDescriptions


class Server:
    def __init__(self, *answers: OSError | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, model: str) -> Description:
        self.asked.append(model)
        await asyncio.sleep(0)
        if self.answers and (error := self.answers.pop(0)) is not None:
            raise error
        return {"id": model}


async def test_a_server_is_asked_once_for_each_model() -> None:
    server = Server()
    models = ModelDescriptions(server)
    found = await asyncio.gather(*(models.of(name) for name in ["one", "two"] * 10))
    assert [info["id"] for info in found if info] == ["one", "two"] * 10
    assert server.asked == ["one", "two"]


async def test_a_server_that_cannot_be_asked_is_asked_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(OSError("away"))
    models = ModelDescriptions(server)
    assert [await models.of("one") for _ in range(2)] == [None, None]
    assert len(server.asked) == 1
    monkeypatch.setattr(descriptions, "RETRY_S", 0)
    again = ModelDescriptions(Server(OSError("away")))
    assert [bool(await again.of("one")) for _ in range(2)] == [False, True]
