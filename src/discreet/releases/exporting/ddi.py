"""A codebook as DDI-Codebook 2.5 XML, which data archives and statistics packages read."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from discreet.io.formats.workbook import NO_XML

if TYPE_CHECKING:
    from discreet.releases.exporting.codebook import Codebook, CodebookColumn

NAMESPACE = "ddi:codebook:2_5"
UNITS = {"integer": "INT", "number": "REAL"}


def ddi_codebook(book: Codebook) -> str:
    """Return the XML text of a codebook."""
    root = ET.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5"})
    study = ET.SubElement(root, "stdyDscr")
    title = ET.SubElement(ET.SubElement(study, "citation"), "titlStmt")
    _text(title, "titl", "Tables: " + ", ".join(table.name for table in book.tables))
    notes = ET.SubElement(study, "method")
    _text(notes, "notes", f"Anonymized by the method {book.method}.")
    for guarantee in book.guarantees:
        _text(notes, "notes", f"Guarantee: {guarantee}")
    for number, table in enumerate(book.tables, 1):
        file = ET.SubElement(ET.SubElement(root, "fileDscr", {"ID": f"F{number}"}), "fileTxt")
        _text(file, "fileName", table.file)
        size = ET.SubElement(file, "dimensns")
        _text(size, "caseQnty", str(table.rows))
        _text(size, "varQnty", str(len(table.columns)))
    data = ET.SubElement(root, "dataDscr")
    for number, table in enumerate(book.tables, 1):
        for place, column in enumerate(table.columns, 1):
            _add_variable(data, f"F{number}", f"F{number}V{place}", column)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _add_variable(data: ET.Element, file: str, own: str, column: CodebookColumn) -> None:
    """Add a column; the order of the parts is that of the schema."""
    continuous = column.type == "number"
    kind = "contin" if continuous else "discrete"
    name = NO_XML.sub("\ufffd", column.name)
    variable = ET.SubElement(data, "var", {"ID": own, "name": name, "files": file, "intrvl": kind})
    if column.label:
        _text(variable, "labl", column.label)
    if column.least is not None and column.greatest is not None:
        ends = {"min": column.least, "max": column.greatest}
        if column.type in UNITS:
            ends["UNITS"] = UNITS[column.type]
        ET.SubElement(ET.SubElement(variable, "valrng"), "range", ends)
    _text(variable, "sumStat", str(column.rows), type="vald")
    _text(variable, "sumStat", str(column.missing), type="invd")
    for value in column.values:
        category = ET.SubElement(variable, "catgry")
        _text(category, "catValu", value.value)
        if value.label:
            _text(category, "labl", value.label)
        _text(category, "catStat", str(value.rows), type="freq")
    numeric = column.type in UNITS
    ET.SubElement(variable, "varFormat", {"type": "numeric" if numeric else "character"})
    _text(variable, "notes", f"Role: {column.role}")


def _text(parent: ET.Element, tag: str, text: str, **attributes: str) -> None:
    """Add an element with text, in which a character that XML does not have is replaced."""
    ET.SubElement(parent, tag, attributes).text = NO_XML.sub("\ufffd", text)
