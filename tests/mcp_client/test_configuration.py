import json
from pathlib import Path
from typing import Any

import pytest

from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.configuration import Configuration, read_configuration
from chiron_workers.settings import Settings


def read(folder: Path, servers: Any) -> Configuration:
    text = servers if isinstance(servers, str) else json.dumps({"mcpServers": servers})
    (folder / "mcp.json").write_text(text)
    return read_configuration(Settings(_env_file=None, home=folder))


def problem(folder: Path, entry: Any) -> str:
    """What is said of one wrong server, beside which another one counts."""
    found = read(folder, {"wrong": entry, "right": {"command": "true"}})
    assert [server.name for server in found.servers] == ["right"]
    [sentence] = found.problems
    return sentence


def test_without_a_file_there_are_no_servers(tmp_path: Path):
    assert read_configuration(Settings(_env_file=None, home=tmp_path)) == Configuration()


def test_the_common_form_is_read_whatever_other_programs_write_into_it(tmp_path: Path):
    found = read(
        tmp_path,
        {
            "local": {"command": "npx", "args": ["-y", "x", 7], "env": {"PORT": 80}, "autoApprove": ["all"]},
            "web": {"type": "http", "url": "https://example.org/mcp", "timeout": 5, "allowedTools": ["a"]},
            "off": {"command": "true", "disabled": True},
        },
    )
    local, web = found.servers
    assert (local.command, local.args, local.env) == ("npx", ("-y", "x", "7"), {"PORT": "80"})
    assert (web.url, web.timeout_s, web.allowed_tools) == ("https://example.org/mcp", 5, frozenset({"a"}))
    assert (found.disabled, found.problems) == (("off",), ())


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("npx", "must be an object with a command or a url"),
        ({}, "must have a command or a url"),
        ({"command": "a", "url": "http://b"}, "must have a command or a url, one of them"),
        ({"command": ["a"]}, "'wrong', command: "),
        ({"url": "ftp://a"}, "'wrong', url: "),
        ({"command": "a", "args": "b"}, "'wrong', args: "),
        ({"url": "http://a", "headers": {"K": None}}, "'wrong', headers.K: "),
        ({"url": "http://a", "headers": {"K": "a\nb"}}, "'wrong', headers.K: must be printable ASCII"),
        (
            {"url": "http://a", "timeout": 30_000},
            "'wrong', timeout: Input should be less than or equal to 3600 (in s",
        ),
        ({"url": "http://a", "allowedTool": ["x"]}, "did you mean allowedTools?"),
        ({"url": "http://a", "type": "sse"}, "streamable HTTP"),
        ({"url": "http://a", "type": "stdio"}, "'wrong', type: with a url it must be http"),
        (
            {"command": "a", "env": {"K": "${NOT_SET_ANYWHERE}"}},
            "env.K: the environment variable NOT_SET_ANYWHERE",
        ),
    ],
)
def test_a_wrong_entry_is_one_sentence_with_server_and_field_and_the_others_count(
    tmp_path: Path, entry: Any, words: str
):
    sentence = problem(tmp_path, entry)
    assert words in sentence
    assert "'wrong'" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {', "is not JSON: Expecting"),
        ("[]", "must be an object with"),
        ('{"mcpServers": {"a": {}, "a": {}}}', "'a' stands there twice"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, words: str):
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert str(tmp_path / "mcp.json") in str(caught.value)


def test_a_file_that_is_named_and_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(ConfigurationError, match=r"cannot be read: .*CHIRON_MCP_SERVERS"):
        read_configuration(Settings(_env_file=None, mcp_servers=str(tmp_path / "none.json")))


def test_variables_are_put_in_and_what_they_held_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_KEY", "s3cret-of-mine")
    headers = {"Authorization": "Bearer ${MY_KEY}", "X-Place": "${NO_PLACE:-here}"}
    url = "https://user:passw0rd@example.org/mcp?apiKey=another-secret#there"
    [web] = read(tmp_path, {"web": {"url": url, "headers": headers}}).servers
    assert web.headers == {"Authorization": "Bearer s3cret-of-mine", "X-Place": "here"}
    assert web.address == "https://example.org/mcp"
    said = web.redaction("Bearer s3cret-of-mine, s3cret-of-mine, passw0rd, another-secret, here")
    assert said == "***, ***, ***, ***, here"
    assert "s3cret" not in repr(web)


def test_secrets_are_known_by_their_looks_and_in_arguments_too(tmp_path: Path):
    env = {"DATABASE": "postgres://me:pass-of-db@host/db", "X": "0a1b2c3d4e5f6a7b8c"}
    args = ["--api-key=first-one", "--token", "second-one", "--root", "/data/files"]
    [local] = read(tmp_path, {"local": {"command": "x", "args": args, "env": env}}).servers
    said = local.redaction("pass-of-db 0a1b2c3d4e5f6a7b8c first-one second-one /data/files")
    assert said == "*** *** *** *** /data/files"


def test_paths_and_small_words_of_an_environment_are_no_secrets(tmp_path: Path):
    env = {"ROOT": "/data/files", "DEBUG": "1", "API_TOKEN": "tok-123456"}
    [local] = read(tmp_path, {"local": {"command": "/usr/bin/true", "env": env}}).servers
    assert local.redaction("/data/files 1 tok-123456") == "/data/files 1 ***"
    assert local.address == "true"
