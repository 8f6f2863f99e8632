import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from mcp_server.conftest import COMMAND, Environment, Serving, Talking, over_http
from mcp_server.test_tools import text
from support import forked_python
from support.worker_processes import rows

from chiron_workers.settings import Settings

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
NOWHERE = "postgresql://127.0.0.1:1/none"


@contextmanager
def started(
    variables: Environment, *, popen: type["subprocess.Popen[str]"] = forked_python.Popen
) -> Iterator["subprocess.Popen[str]"]:
    """A server that has answered its first message."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with popen(COMMAND, env=variables(), text=True, start_new_session=True, **pipes) as process:
        try:
            process.stdin.write(json.dumps(HELLO) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["result"]["serverInfo"]["name"] == "chiron"
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def test_it_passes_over_what_is_no_message_and_ends_with_its_input(variables: Environment):
    with started(variables, popen=subprocess.Popen) as process:  # as a client starts it
        for line in (
            "",
            "no json",
            '{"jsonrpc": "2.0"}',
            "[1, 2]",
            '{"jsonrpc":"2.0","id":7,"method":"ping"}',
        ):
            process.stdin.write(line + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline())]
        while answers[-1].get("id") != 7:
            answers.append(json.loads(process.stdout.readline()))
        assert answers[-1]["result"] == {}
        rest, _ = process.communicate(timeout=90)
        assert (process.returncode, rest) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to(variables: Environment, number: signal.Signals):
    with started(variables) as process:
        os.kill(process.pid, number)
        assert process.wait(timeout=90) == 128 + number
        assert process.stderr.read() == ""


async def test_without_a_database_it_stays_up_and_each_call_says_what_to_do(talking: Talking):
    async with talking(CHIRON_DATABASE_URL=NOWHERE) as client:
        assert len((await client.list_tools()).tools) > 12
        for name in ("list_subjects", "get_active_subject"):
            result = await client.call_tool(name, {})
            assert result.is_error
            assert text(result).startswith("The database cannot be reached. Do the services of Chiron run")
            assert "127.0.0.1" not in text(result)


async def test_over_http_too_what_is_missing_is_told_in_a_sentence(serving: Serving):
    with serving(CHIRON_DATABASE_URL="") as url:
        async with over_http(url) as client:
            result = await client.call_tool("list_subjects", {})
    assert result.is_error
    assert text(result) == (
        "No database is known where this server runs. What helps: Change the setting CHIRON_DATABASE_URL."
    )


async def test_calls_work_again_as_soon_as_the_database_is_back(serving: Serving, settings: Settings):
    broken = (
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name = 'chiron' and datname = current_database()"
    )
    with serving() as url:
        async with over_http(url) as client:
            assert not (await client.call_tool("list_subjects", {})).is_error
            assert rows(settings, broken)
            told = await client.call_tool("list_subjects", {})
            assert told.is_error
            assert text(told).startswith("The database cannot be reached.")
            assert not (await client.call_tool("list_subjects", {})).is_error
