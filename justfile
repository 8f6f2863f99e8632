# Short names for what people type every day; `just` alone lists them.
_default:
    @just --list

# Tests, acceptance, formatting, lint, names, types, import contracts, deployment files
check: test acceptance checks

# The tests of behaviour, in minutes; `just test tests/runs` runs a part
test *args:
    uv run pytest {{args}}

# The long ones: chaos, load, whole stacks, benchmarks' smoke runs, conformance suites of others
acceptance *args:
    uv run pytest -m acceptance {{args}}

# A disturbed stack for 20 minutes: descriptors, connections and memory over time; `just soak --minutes 2`
soak *args:
    uv run python benchmarks/soak.py {{args}}

# All checks beside the tests
checks:
    .ci/checks

# Put formatting and imports in order
format:
    uv run ruff format .
    uv run ruff check --fix .

# Write pages and tables of docs/, .env.example and the methods of the client anew from the code
docs:
    uv run python docs/generate.py

# Export the pins of the lock file for pip and the container image
requirements:
    uv lock
    uv export --frozen --no-dev --no-annotate --no-emit-project --no-header --output-file requirements.txt --quiet

# Run ruff before every commit
hooks:
    uv tool run pre-commit install
