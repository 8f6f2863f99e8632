"""No single change of a crate passes its check, whether or not the hashes are made to fit.

The crate names another version as maker of the page, so the check does not catch them by writing the documents again.
"""

import random

import pytest
from support.crate_files import claim_other_version, repair_hashes, write_zip
from support.crate_mutations import MUTATIONS, is_changed

from chiron_api.crate.archive import CrateRefused
from chiron_api.reports.crate.verification import verify

FEW, MANY = 2, 10  # of each mutation
FLIPS = 6  # of bytes, for each of them
SIZES = pytest.mark.parametrize(
    "rounds", [FEW, pytest.param(MANY, marks=pytest.mark.acceptance)], ids=["few", "many"]
)


def is_caught(path) -> bool:
    try:
        result = verify(path)
    except CrateRefused:
        return True
    return bool(result.faults)


@SIZES
def test_every_mutation_is_caught_though_the_hashes_fit(files, tmp_path, rounds, seed):
    claim_other_version(files)
    assert not is_caught(write_zip(files, tmp_path / "sound.zip"))
    tries = 0
    for mutate in MUTATIONS:
        for n in range(rounds):
            mutant = dict(files)
            mutate(mutant, random.Random(f"{seed} {mutate.__name__} {n}"))
            if not is_changed(files, mutant):
                continue
            if mutate.__name__ != "cut_document":
                repair_hashes(mutant)
            tries += 1
            path = write_zip(mutant, tmp_path / "mutant.zip")
            assert is_caught(path), f"seed {seed}: {mutate.__name__} {n}"
    print(f"{tries} mutations with hashes that fit, all caught")
    assert tries >= 20 * rounds


@SIZES
def test_every_changed_byte_of_a_file_is_caught(files, tmp_path, rounds, seed):
    claim_other_version(files)
    names = sorted(name for name in files if name != "ro-crate-metadata.json")
    dice = random.Random(seed)
    for n in range(FLIPS * rounds):
        mutant, name = dict(files), names[n % len(names)]
        content = bytearray(mutant[name])
        content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        mutant[name] = bytes(content)
        assert is_caught(write_zip(mutant, tmp_path / "mutant.zip")), f"seed {seed}: {name} {n}"
