"""Texts of an xlsx sheet whose words are set in several ways: calamine joins them, so that 10⁶ would read as 106."""

import re
from collections.abc import Collection, Iterator
from io import BytesIO
from typing import Any

from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.scripts import lower_words, raise_words
from chiron_workers.documents.tables.places import TAG_CHARS_MAX, Place, cell_name, cell_place

SET_WORDS = re.compile(rb"<(?:\w+:)?(?:vertAlign|strike)\b")
SHARED_TEXT = re.compile(rb'\st="s"[^>]{0,500}>\s{0,99}<(?:\w+:)?v>(\d{1,9})<')
INLINE_TEXT = re.compile(rb"<((?:\w+:)?is)>")
PREFIX = re.compile(rb"(</?)\w+:")
TEXT_BYTES_MAX = 400_000  # of a cell: 32,767 characters, each run with its properties
STRUCK_WORDS, STRUCK_CELL = "passage that is struck out", "cell that is struck out"
NS = "{*}"


def read_words(
    xml: bytes, shared_xml: bytes, struck_styles: Collection[bytes], etree: Any, omissions: Omissions
) -> Iterator[tuple[Place, str]]:
    """The cells of a sheet that have raised, lowered or struck words, with their text; empty for a cell that is struck out.

    Args:
        shared_xml: The texts that cells have by their number.
        struck_styles: The numbers of the styles that strike a whole cell.
        omissions: Where what is struck out is counted.
    """
    if texts := dict(_shared_texts(shared_xml, etree)):
        for match in SHARED_TEXT.finditer(xml):
            if (text := texts.get(int(match[1]))) and (place := cell_place(xml, match.start())):
                yield place, _count(text, place, omissions)
    if _has_set_words(xml):
        for place, text in _inline_texts(xml, etree):
            yield place, _count(text, place, omissions)
    for place in _struck_cells(xml, struck_styles) if struck_styles else ():
        omissions.add(STRUCK_CELL, place=cell_name(place))
        yield place, ""


def _has_set_words(xml: bytes) -> bool:
    return (b"vertAlign" in xml or b"strike" in xml) and bool(SET_WORDS.search(xml))


def _shared_texts(shared_xml: bytes, etree: Any) -> Iterator[tuple[int, tuple[str, int]]]:
    if not _has_set_words(shared_xml):
        return
    items = etree.iterparse(
        BytesIO(shared_xml), events=("end",), tag=f"{NS}si", resolve_entities=False, no_network=True
    )
    for n, (_, item) in enumerate(items):
        if _is_set(item):
            yield n, _text(item)
        item.clear()


def _inline_texts(xml: bytes, etree: Any) -> Iterator[tuple[Place, tuple[str, int]]]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    for match in INLINE_TEXT.finditer(xml):
        end = xml.find(b"</" + match[1] + b">", match.end(), match.end() + TEXT_BYTES_MAX)
        words = xml[match.end() : end] if end > 0 else b""
        tag = xml.rfind(b"<", max(0, match.start() - TAG_CHARS_MAX), match.start())
        if SET_WORDS.search(words) and (place := cell_place(xml, tag + 1)):
            yield place, _text(etree.fromstring(b"<is>" + PREFIX.sub(rb"\1", words) + b"</is>", parser))


def _struck_cells(xml: bytes, styles: Collection[bytes]) -> Iterator[Place]:
    for match in re.finditer(rb'\ss="(?:' + rb"|".join(styles) + rb')"', xml):
        end = xml.find(b">", match.end(), match.end() + TAG_CHARS_MAX)
        is_empty = end < 0 or xml[end - 1 : end] == b"/"
        if not is_empty and (place := cell_place(xml, match.start())):
            yield place


def _count(text: tuple[str, int], place: Place, omissions: Omissions) -> str:
    words, struck = text
    if struck:
        omissions.add(STRUCK_WORDS, place=cell_name(place), count=struck)
    return words


def _is_set(item: Any) -> bool:
    return any(True for _ in item.iter(f"{NS}vertAlign", f"{NS}strike"))


def _text(item: Any) -> tuple[str, int]:
    """The words of a text, and how many passages of it are struck out and left out."""
    text, struck = "", 0
    for run in item.iterchildren(f"{NS}r", f"{NS}t"):
        words = "".join(part.text or "" for part in run.iter(f"{NS}t"))
        if is_struck(run.find(f"{NS}rPr")):
            struck += bool(words.strip())
            continue
        position = run.find(f"{NS}rPr/{NS}vertAlign")
        kind = "" if position is None else position.get("val")
        if kind == "superscript":
            words = raise_words(words, before=text)
        elif kind == "subscript":
            words = lower_words(words)
        text += words
    return text, struck


def is_struck(properties: Any) -> bool:
    """Whether a font, or the properties of a run, strike its words out."""
    strike = None if properties is None else properties.find(f"{NS}strike")
    return strike is not None and strike.get("val", "1") not in ("0", "false")
