"""Authors that were stored as one line become a list where the line can be read in one way alone."""

import psycopg

from chiron_workers.db import migrate

LINES = {
    "Jane Smith": ["Jane Smith"],
    "Plato": ["Plato"],
    "World Health Organization": ["World Health Organization"],
    "Jane Smith; Kim Jones": ["Jane Smith", "Kim Jones"],
    "Jan van der Berg;Kim Jones ;Ann Lee": ["Jan van der Berg", "Kim Jones", "Ann Lee"],
    "Jane Smith, Kim Jones": None,
    "García Márquez, Gabriel": None,
    "García Márquez; Gabriel": None,
    "Gabriel; María Luisa": None,
    "Jane Smith and Kim Jones": None,
    "José Ortega y Gasset": None,
    "Bell & Howell": None,
    "da Silva Santos; Ana Maria": None,
    "Anna Bianchi e Luca Rossi": None,
    "Jane Smith with Kim Jones": None,
    "Jane Smith • Kim Jones": None,
    "李伟，张三": None,
    "x " * 150: None,
    "": None,
}


def test_lines_of_authors_become_lists_where_they_allow_one_reading(empty_url: str):
    with psycopg.connect(empty_url, autocommit=True) as connection:
        migrate.create_table(connection)
        for migration in migrate.migrations():
            if migration.version < 60:
                with connection.transaction():
                    migrate.apply_within(connection, migration)
                    values = (migration.version, migration.name)
                    connection.execute(
                        "insert into schema_migrations (version, name) values (%s, %s)", values
                    )
        connection.execute(
            "insert into snapshots (hash, body, chars, content_type) values ('h', '', 0, 'text/plain')"
        )
        for author in LINES:
            connection.execute(
                "insert into fetches (id, url, hash, author) values (gen_random_uuid(), 'https://a.org', 'h', %s)",
                (author,),
            )
        migrate.migrate(empty_url)
        assert dict(connection.execute("select author, authors from fetches").fetchall()) == LINES
