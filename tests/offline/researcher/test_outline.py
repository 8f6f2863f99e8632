"""How a document is divided, read from its text alone."""

import pytest

from chiron_workers.offline.researcher.outline import is_telling, page_title, sections

MARKDOWN = """# 4. Moss - Guide

All on moss.

## Light

Moss glows.

```sh
# a comment, and no heading
```

### At night

It glows more.

## See also

Ferns.

## Water

Moss drinks.
"""
RESTRUCTURED = """Moss
****

Light
=====

Moss glows.

... print(x)
...

At night
--------

It glows more.

Water
=====

Moss drinks.
"""
RENDERED = "4. Moss¶\n\nAll.\n\n4.1. Light¶\n\n# code\n\nMoss glows.\n\n4.1.1. At night¶\n\nMore.\n\n4.2. Water¶\n\nDrinks."
BARE = (
    "Moss\n\nAll on moss.\n\nLight\n\nMoss glows if:\n\nThe lamp, which burns, is equivalent to\n\n   code here\n\n"
    "Water\n\nIt drinks."
)


@pytest.mark.parametrize("text", [MARKDOWN, RESTRUCTURED, RENDERED, BARE])
def test_the_first_parts_of_a_document_are_found_in_every_notation(text: str) -> None:
    assert [section.title for section in sections(text)] == ["Light", "Water"]
    assert "glows" in sections(text)[0].text
    assert "drinks" not in sections(text)[0].text.casefold()


@pytest.mark.parametrize("text", ["", "Moss glows.", "# Moss\n\nMoss glows.", "One line\n\nand another."])
def test_a_text_without_headings_has_no_parts(text: str) -> None:
    assert sections(text) == []


def test_chapters_of_one_level_are_the_parts() -> None:
    assert [section.title for section in sections("# Light\n\nA.\n\n# Water\n\nB.")] == ["Light", "Water"]


def test_the_title_of_a_page_loses_its_number_and_the_name_of_its_book() -> None:
    assert page_title("4. Execution model — Python 3.11.2 documentation") == "Execution model"
    assert page_title("Chapter 12: Moss | Guide") == "Moss"


def test_a_title_that_names_no_matter_tells_nothing() -> None:
    titles = ["Introduction", "see also", "17", "What Now?", "Introduction to moss", 'The "if" statement']
    assert [is_telling(title) for title in titles] == [False, False, False, False, True, True]
