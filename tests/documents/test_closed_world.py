"""Of generated documents of each format no element is lost: its words are in the text, or it is listed. `benchmarks/omissions.py`
reads many more."""

from random import Random

import pytest

from benchmarks.omission_formats.trial import Format, formats, joined, probes_of, unaccounted

UNKNOWN_ELEMENTS = 6
each_format = pytest.mark.parametrize("file_format", formats(), ids=lambda file_format: file_format.name)


@each_format
def test_no_element_that_the_table_knows_is_lost(file_format: Format, chance: Random) -> None:
    for _ in range(5):
        probes = probes_of(file_format.elements, chance)
        document = file_format.read(file_format.build(probes, chance))
        assert unaccounted(file_format, probes, document) == []


@each_format
def test_an_element_that_no_table_knows_leaves_a_mark_or_an_entry_and_joins_nothing(
    file_format: Format, chance: Random
) -> None:
    for _ in range(10):
        probes = probes_of([file_format.unknown(chance) for _ in range(UNKNOWN_ELEMENTS)], chance)
        document = file_format.read(file_format.build(probes, chance))
        assert list(joined(probes, document)) == []
        assert unaccounted(file_format, probes, document) == []
        assert sum(omission.count for omission in document.left_out) >= len(probes)
