import pytest

TEST_S = 300  # keeps a test from hanging: most start two workers or more, which a busy machine does slowly


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "acceptance" and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TEST_S))
