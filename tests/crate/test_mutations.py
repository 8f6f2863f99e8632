"""No single change of a crate passes its check, whether or not the hashes are made to fit."""

import os
import random

import pytest
from support.crate_files import repair_hashes, write_zip
from support.crate_mutations import MUTATIONS, is_changed

from chiron_api.crate.archive import CrateRefused
from chiron_api.crate.verification import verify

ROUNDS = 10  # of each mutation
BYTE_FLIPS = 60


def is_caught(path) -> bool:
    try:
        result = verify(path)
    except CrateRefused:
        return True
    return bool(result.faults)


@pytest.fixture
def seed() -> int:
    seed = int(os.environ.get("CHIRON_CRATE_SEED") or random.randrange(2**32))
    print(f"CHIRON_CRATE_SEED={seed}")
    return seed


def test_every_mutation_is_caught_though_the_hashes_fit(files, tmp_path, seed):
    assert not is_caught(write_zip(files, tmp_path / "sound.zip"))
    tries = 0
    for mutate in MUTATIONS:
        for n in range(ROUNDS):
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
    assert tries >= 200


def test_every_changed_byte_of_a_file_is_caught(files, tmp_path, seed):
    names = sorted(name for name in files if name != "ro-crate-metadata.json")
    dice = random.Random(seed)
    for n in range(BYTE_FLIPS):
        mutant, name = dict(files), names[n % len(names)]
        content = bytearray(mutant[name])
        content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        mutant[name] = bytes(content)
        assert is_caught(write_zip(mutant, tmp_path / "mutant.zip")), f"seed {seed}: {name} {n}"
