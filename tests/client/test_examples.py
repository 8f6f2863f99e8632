"""The programs of docs/client.md, run as they stand there."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
from support.api_server import api_client
from support.scripted_model import says

from chiron_api.local_stack.access import api_key

PAGE = Path(__file__).parents[2] / "docs" / "client.md"
PROGRAMS = re.findall(
    r"<!-- runs in tests/client/test_examples.py -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL
)


@pytest.mark.parametrize("program", PROGRAMS)
async def test_the_programs_of_the_page_run(program: str, stage, settings, tmp_path: Path):
    await stage.model(lambda _: says("Open water amid the ice."))
    async with api_client(settings) as api:
        key = api_key(settings)  # kept in the home, where the client finds it
        environment = os.environ | {"CHIRON_API_URL": str(api.base_url), "CHIRON_HOME": str(settings.home)}
        environment.pop("CHIRON_API_KEY", None)
        assert (settings.home / "api.key").read_text().strip() == key
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", program, env=environment, cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(120):
            while len(rows := await stage.rows("select id from runs where state = 'queued'")) < 2:
                assert process.returncode is None, (await process.communicate())[1].decode()
                await asyncio.sleep(0.05)  # asked of Postgres
            for row in rows:
                await stage.play(row["id"])
            output, errors = await process.communicate()
    assert (process.returncode, errors.decode()) == (0, "")
    assert output.decode().count("answer: Open water amid the ice.") == 2


def test_there_are_two_programs():
    assert len(PROGRAMS) == 2
