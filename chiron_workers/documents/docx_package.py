"""The parts of a Word file, whatever is wrong with the rest of it."""

import posixpath
import re
import zipfile
from base64 import b64decode
from contextlib import suppress
from io import BytesIO
from typing import Any

from chiron_workers.documents.document import UnreadableError, import_optional
from chiron_workers.documents.office_package import (
    READ_ERRORS,
    entries_by_path,
    is_flat_package,
    main_part,
    part_path,
)
from chiron_workers.documents.omissions import Omissions

# The namespaces of ISO 29500 Strict, and those that everybody else writes.
STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(wordprocessingml|officeDocument|drawingml)/(\w+)")
PLAIN = b"http://schemas.openxmlformats.org/%s/2006/%s"
FLAT = "{http://schemas.microsoft.com/office/2006/xmlPackage}"
MAIN_PART = "word/document.xml"
BROKEN_PART = "broken part of the file"
ENCRYPTED_FLAG = 0x1


class Package:
    """A Word file, whose parts are read one by one. What its relationships name and is not there does not matter.

    Raises:
        UnreadableError: There is no archive, or none with a document in it; the message says what is wrong.
    """

    def __init__(self, data: bytes, omissions: Omissions) -> None:
        self._etree = import_optional("lxml.etree")
        self._omissions = omissions
        if is_flat_package(data):
            data = self._zipped(data)
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except READ_ERRORS:
            raise UnreadableError("it is no whole Word document") from None
        self._entries = entries_by_path(self._archive)
        relations = self._relations("_rels/.rels", "")
        self.main = _target(relations, "/officeDocument", MAIN_PART)
        if self.main.lower() not in self._entries:
            self.main = main_part(self._archive, self._entries) or MAIN_PART
        folder, name = posixpath.split(self.main)
        self._folder = folder
        self._main_relations = self._relations(f"{folder}/_rels/{name}.rels", folder)
        self._properties = _target(relations, "/core-properties", "docProps/core.xml")

    def _zipped(self, data: bytes) -> bytes:
        """The archive that a file is which Word wrote as one XML document. Raises UnreadableError."""
        try:
            root = self._parse(data)
        except self._etree.XMLSyntaxError as error:
            raise UnreadableError(f"its XML is broken: it ends at line {error.lineno}") from None
        file = BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for part in root:
                xml, words = part.find(f"{FLAT}xmlData"), part.findtext(f"{FLAT}binaryData", "")
                content = self._etree.tostring(xml[0]) if xml is not None and len(xml) else b""
                with suppress(ValueError):  # A picture that is broken hides no words.
                    content = content or b64decode(words)
                archive.writestr(part_path(part.get(f"{FLAT}name", "")) or "part", content)
        return file.getvalue()

    def document(self) -> Any:
        """The root of the main part. Raises UnreadableError."""
        if self.main.lower() not in self._entries:
            raise UnreadableError(f"it has no part {MAIN_PART}, where the text of a Word document is")
        try:
            root = self._parse(self._bytes(self.main))
        except self._etree.XMLSyntaxError as error:
            raise UnreadableError(
                f"its part {self.main} is broken: its XML ends at line {error.lineno}"
            ) from None
        if root.tag.rpartition("}")[2] != "document":
            raise UnreadableError(f"its part {self.main} is no text of a Word document")
        return root

    def part(self, kind: str) -> Any | None:
        """The root of the part with a kind of relationship, such as `styles`; None where there is none."""
        return self._optional(_target(self._main_relations, f"/{kind}", f"{self._folder}/{kind}.xml"))

    def related(self, id_: str) -> Any | None:
        """The root of the part with this id of a relationship; None where there is none."""
        return self._optional(next((path for key, _, path in self._main_relations if key == id_), ""))

    def properties(self) -> Any | None:
        """The root of the part with title, author and dates; None where there is none."""
        return self._optional(self._properties)

    def _optional(self, path: str) -> Any | None:
        if path.lower() not in self._entries:
            return None
        try:
            return self._parse(self._bytes(path))
        except (UnreadableError, self._etree.XMLSyntaxError):
            self._omissions.add(BROKEN_PART, place=path)
            return None

    def _bytes(self, path: str) -> bytes:
        entry = self._entries[path.lower()]
        if entry.flag_bits & ENCRYPTED_FLAG:
            raise UnreadableError("it is encrypted and needs a password")
        try:
            return self._archive.read(entry)
        except NotImplementedError:
            raise UnreadableError(f"its part {path} is compressed in a way that is not known here") from None
        except READ_ERRORS:
            raise UnreadableError(f"its part {path} is damaged") from None

    def _parse(self, data: bytes) -> Any:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            text = data.decode("utf-16", "replace")
            data = re.sub(r"^\s*<\?xml[^>]*\?>", "", text).encode()
        data = data.lstrip(b" \t\r\n")
        if b"http://purl.oclc.org/ooxml/" in data:
            data = STRICT.sub(lambda name: PLAIN % (name[1], name[2]), data)
        parser = self._parser()
        try:
            return self._etree.fromstring(data, parser)
        except self._etree.XMLSyntaxError:
            # A prefix that nobody declared hides no words; what has one leaves a mark.
            no_namespace = self._etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE
            if any(entry.type != no_namespace for entry in parser.error_log.filter_from_errors()):
                raise
            return self._etree.fromstring(data, self._parser(recover=True))

    def _parser(self, *, recover: bool = False) -> Any:
        """A parser that reads nothing outside the file, and leaves entities as they are."""
        return self._etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True, recover=recover
        )

    def _relations(self, path: str, folder: str) -> list[tuple[str, str, str]]:
        """Id, type and path of each part that the relationships of a part name."""
        root = None
        with suppress(UnreadableError):
            root = self._optional(path.removeprefix("/"))
        return [
            (relation.get("Id", ""), relation.get("Type", ""), part_path(relation.get("Target", ""), folder))
            for relation in ([] if root is None else root)
            if isinstance(relation.tag, str) and relation.get("TargetMode") != "External"
        ]


def _target(relations: list[tuple[str, str, str]], kind: str, default: str) -> str:
    path = next((path for _, type_, path in relations if type_.endswith(kind)), default)
    return path or default
