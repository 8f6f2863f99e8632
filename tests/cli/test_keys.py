"""`chiron keys` and `chiron audit`."""

import json

import psycopg
import pytest
from support.json_lines import json_lines


def test_create_prints_the_key_once_and_no_list_shows_it(chiron, rows):
    created = chiron(
        "keys",
        "create",
        "alice",
        "--scope",
        "submit",
        "--expires",
        "30d",
        "--budget-usd",
        "5",
        "--per",
        "day",
    )
    assert (created.exit_code, created.stderr) == (0, "")
    secret = created.stdout.strip()
    assert secret.startswith("chiron_")
    listed = chiron("keys", "list").stdout
    for words in ("alice  may submit", "budget $5.00 a day, $5.00 left", "ends "):
        assert words in listed
    [item] = json_lines(chiron("keys", "list", "--json").stdout)
    assert (item["name"], item["scope"], item["left_usd"]) == ("alice", "submit", 5.0)
    assert secret not in listed + json.dumps(item) + str(rows("select * from audit")) + str(
        rows("select * from access_keys")
    )


def test_create_as_json_has_the_key_and_what_it_may(chiron):
    document = json.loads(
        chiron(
            "keys",
            "create",
            "ci",
            "--scope",
            "read",
            "--owner",
            "team",
            "--requests-per-minute",
            "60",
            "--json",
        ).stdout
    )
    assert document["key"].startswith("chiron_")
    assert (document["owner"], document["requests_per_minute"]) == ("team", 60)


def test_a_revoked_key_is_listed_only_where_all_are(chiron):
    chiron("keys", "create", "alice", "--scope", "read")
    assert chiron("keys", "revoke", "alice").stdout == "The key 'alice' is revoked.\n"
    chiron("keys", "create", "bob", "--scope", "read")
    assert json.loads(chiron("keys", "revoke", "bob", "--json").stdout) == {"revoked": "bob"}
    assert "There is no key" in chiron("keys", "list").stdout
    assert "revoked " in chiron("keys", "list", "--all").stdout
    again = chiron("keys", "revoke", "alice")
    assert (again.exit_code, "no key 'alice' in use" in again.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--expires", "soon"), "is not a time to end"),
        (("--expires", "2020-01-01"), "has passed already"),
    ],
)
def test_what_cannot_be_a_key_is_refused(chiron, rows, arguments, words):
    outcome = chiron("keys", "create", "alice", "--scope", "read", *arguments)
    assert outcome.exit_code == 2
    assert words in outcome.stderr
    assert rows("select id from access_keys") == []


def test_the_trail_has_what_commands_changed_newest_first(chiron):
    assert "Nothing was changed yet." in chiron("audit").stdout
    batch = json.loads(chiron("submit", "A", "--subject", "S", "--json").stdout)
    chiron("pause", batch["batch_id"])
    chiron("resume", batch["run_ids"][0])
    chiron("say", batch["run_ids"][0], "a secret word")
    chiron("keys", "create", "alice", "--scope", "read")
    chiron("cancel", batch["batch_id"])
    chiron("delete", batch["batch_id"], "--yes")
    chiron("show", batch["batch_id"])
    lines = [json.loads(line) for line in chiron("audit", "--json").stdout.splitlines()]
    assert [line["action"] for line in reversed(lines)] == [
        "batches.submit",
        "batches.pause",
        "runs.resume",
        "runs.say",
        "keys.create",
        "batches.cancel",
        "batches.delete",
    ]
    assert {line["owner"] for line in lines} == {"local"}
    assert lines[-1]["target"] == batch["batch_id"]
    assert "secret word" not in str(lines)
    assert "chiron_" not in str(lines)
    assert "batches.submit" in chiron("audit").stdout


def test_the_trail_has_webhooks_subscriptions_and_upkeep_too(chiron, rows):
    hook = json.loads(chiron("webhooks", "add", "https://example.org/hook", "--json").stdout)
    delivery = json.loads(chiron("webhooks", "test", hook["id"], "--json").stdout)
    chiron("webhooks", "resend", delivery["id"])
    chiron("webhooks", "remove", hook["id"])
    added = chiron("subscriptions", "add", "A", "--subject", "S", "--cron", "0 6 * * *", "--json")
    subscription = json.loads(added.stdout)["id"]
    for act in ("pause", "resume", "delete"):
        chiron("subscriptions", act, subscription)
    chiron("recompute")
    chiron("reembed")
    chiron("migrate")  # lacks nothing, so changes nothing
    assert [
        (row["action"], row["target"]) for row in rows("select action, target from audit order by id")
    ] == [
        ("webhooks.create", hook["id"]),
        ("webhooks.test", hook["id"]),
        ("deliveries.resend", delivery["id"]),
        ("webhooks.delete", hook["id"]),
        ("subscriptions.create", subscription),
        ("subscriptions.pause", subscription),
        ("subscriptions.resume", subscription),
        ("subscriptions.delete", subscription),
        *[("facts.recompute", "")] * 2,  # its begin and its end
        *[("facts.reembed", "")] * 2,
    ]


def test_a_list_longer_than_a_page_is_whole(chiron, rows):
    rows(
        "insert into audit (id, owner, action, target, detail) "
        "select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'ada', 'runs.say', n::text, '{}' "
        "from generate_series(1, 250) n returning 1"
    )
    lines = chiron("audit", "--limit", "230", "--owner", "ada", "--json").stdout.splitlines()
    assert [json.loads(line)["target"] for line in lines] == [str(n) for n in range(250, 20, -1)]
    assert len(chiron("audit", "--limit", "1000").stdout.splitlines()) == 250


def test_each_migration_is_in_the_trail_once_there_is_one(chiron, released_url, monkeypatch):
    monkeypatch.setenv("CHIRON_DATABASE_URL", released_url)
    assert chiron("migrate").exit_code == 0
    with psycopg.connect(released_url) as connection:
        entries = connection.execute("select action, target from audit order by id").fetchall()
        versions = connection.execute(
            "select name from schema_migrations where version >= 30 order by version"
        )
        assert entries == [("database.migrate", name) for (name,) in versions]


def test_prune_takes_old_entries_along(chiron, rows):
    chiron("keys", "create", "alice", "--scope", "read")
    chiron("keys", "revoke", "alice")
    # An id tells when it was made: the older half of all ids was made before any of ours.
    rows(
        "update audit set id = '00000000-0000-7000-8000-000000000001' where action = 'keys.create' returning id"
    )
    assert "audit trail      would go (1 entry)" in chiron("prune", "--older-than", "90d", "--dry-run").stdout
    assert json.loads(chiron("prune", "--older-than", "90d", "--json").stdout)["audit"] == 1
    assert [row["action"] for row in rows("select action from audit order by id")] == [
        "keys.revoke",
        "journals.prune",
        "journals.prune",
    ]
