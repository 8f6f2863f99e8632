import json
from pathlib import Path
from typing import Any

import pytest
from mcp_server.conftest import COMMAND, KEY, Environment, Serving
from support.npm_packages import TEST_S, installed, node

from chiron_api.mcp_server.tools import client_tools

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(TEST_S)]


@pytest.fixture(scope="module")
def inspector() -> Path:
    """The official inspector's command line, of another implementation than our server's."""
    return installed("@modelcontextprotocol/inspector") / "clients" / "launcher" / "build" / "index.js"


def inspect(inspector: Path, folder: Path, *arguments: str) -> Any:
    done = node(inspector, "--cli", *arguments, timeout_s=60, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_finds_nothing_wrong_with_our_schemas(
    inspector: Path, variables: Environment, tmp_path: Path
):
    command, *arguments = COMMAND
    server = {"command": command, "args": arguments, "env": variables()}
    servers = tmp_path / "mcp.json"
    servers.write_text(json.dumps({"mcpServers": {"chiron": server}}))
    options = ["--config", str(servers), "--server", "chiron", "--connect-timeout", "60000"]
    listed = inspect(inspector, tmp_path, *options, "--method", "tools/list", "--strict")
    assert {tool["name"] for tool in listed["tools"]} == {tool.name for tool in client_tools().all()}


def test_the_inspector_calls_a_tool_over_http_with_the_key(inspector: Path, serving: Serving, tmp_path: Path):
    with serving(CHIRON_API_KEY=KEY) as url:
        shown = inspect(
            inspector, tmp_path, url, "--transport", "http", "--header", f"Authorization: Bearer {KEY}",
            "--method", "tools/call", "--tool-name", "save_learning_goal",
            "--tool-arg", "subject_id=Physics", "purpose_statement=To know",
        )  # fmt: skip
    assert not shown.get("isError")
    assert shown["structuredContent"]["subject_id"] == "physics"
