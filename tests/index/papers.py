"""Documents of every kind, made by hand: the least that is one."""

import zipfile
from collections.abc import Sequence
from io import BytesIO

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_XML = '<?xml version="1.0" encoding="UTF-8"?>'


def pdf(pages: Sequence[str]) -> bytes:
    """A PDF with one line a page, in any script: glyphs have no shapes, but say which characters they are."""
    codes = {char: number for number, char in enumerate(sorted({char for page in pages for char in page}), 1)}
    rows = "\n".join(f"<{code:04x}> <{char.encode('utf-16-be').hex()}>" for char, code in codes.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def "
        f"1 begincodespacerange <0000> <ffff> endcodespacerange {len(codes)} beginbfchar\n{rows}\nendbfchar "
        "endcmap CMapName currentdict /CMap defineresource pop end end"
    )
    kids = " ".join(f"{7 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[4 0 R]/ToUnicode 5 0 R>>",
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
        "/Supplement 0>>/DW 600/FontDescriptor 6 0 R>>",
        f"<</Length {len(cmap)}>>stream\n{cmap}\nendstream",
        "<</Type/FontDescriptor/FontName/X/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200"
        "/CapHeight 700/StemV 80>>",
    ]
    for number, page in enumerate(pages):
        shown = "".join(f"{codes[char]:04x}" for char in page)
        content = f"BT /F 12 Tf 72 720 Td <{shown}> Tj ET"
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {8 + 2 * number} 0 R>>"
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    made = b"%PDF-1.5\n"
    places: list[int] = []
    for number, text in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return (
        made
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
            f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(made)}\n%%EOF\n"
        ).encode()
    )


def docx(sections: Sequence[tuple[str, str]]) -> bytes:
    """A Word file: headings with a paragraph each."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{title}</w:t></w:r></w:p>'
        f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
        for title, text in sections
    )
    style = '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
    return _zipped(
        {
            "[Content_Types].xml": _types(
                ("/word/document.xml", "wordprocessingml.document.main"),
                ("/word/styles.xml", "wordprocessingml.styles"),
            ),
            "_rels/.rels": _relations(("officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": _relations(("styles", "styles.xml")),
            "word/styles.xml": f"{_XML}<w:styles {space}>{style}</w:styles>",
            "word/document.xml": f"{_XML}<w:document {space}><w:body>{body}</w:body></w:document>",
        }
    )


def pptx(slides: Sequence[tuple[str, str]]) -> bytes:
    """A PowerPoint file: slides with a title and a line."""
    space = (
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{_OFFICE}"'
    )
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in numbers)
    files = {
        "[Content_Types].xml": _types(
            ("/ppt/presentation.xml", "presentationml.presentation.main"),
            *((f"/ppt/slides/slide{number}.xml", "presentationml.slide") for number in numbers),
        ),
        "_rels/.rels": _relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/_rels/presentation.xml.rels": _relations(*(("slide", f"slides/slide{number}.xml") for number in numbers)),
        "ppt/presentation.xml": f"{_XML}<p:presentation {space}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
    }
    for number, (title, text) in enumerate(slides, 1):
        shapes = _shape(2, "title", title) + _shape(3, "body", text)
        files[f"ppt/slides/slide{number}.xml"] = (
            f'{_XML}<p:sld {space}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/>'
            f"</p:nvGrpSpPr><p:grpSpPr/>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    return _zipped(files)


def _shape(number: int, kind: str, text: str) -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="x{number}"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr>'
        f"</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def xlsx(sheets: Sequence[tuple[str, Sequence[Sequence[str]]]]) -> bytes:
    """An Excel file: sheets with rows of text."""
    space = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{_OFFICE}"'
    numbers = range(1, len(sheets) + 1)
    named = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>' for number, (name, _) in enumerate(sheets, 1)
    )
    files = {
        "[Content_Types].xml": _types(
            ("/xl/workbook.xml", "spreadsheetml.sheet.main"),
            *((f"/xl/worksheets/sheet{number}.xml", "spreadsheetml.worksheet") for number in numbers),
        ),
        "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
        "xl/_rels/workbook.xml.rels": _relations(
            *(("worksheet", f"worksheets/sheet{number}.xml") for number in numbers)
        ),
        "xl/workbook.xml": f"{_XML}<workbook {space}><sheets>{named}</sheets></workbook>",
    }
    for number, (_, rows) in enumerate(sheets, 1):
        body = "".join(
            f'<row r="{y}">'
            + "".join(
                f'<c r="{chr(64 + x)}{y}" t="inlineStr"><is><t>{cell}</t></is></c>' for x, cell in enumerate(row, 1)
            )
            + "</row>"
            for y, row in enumerate(rows, 1)
        )
        files[f"xl/worksheets/sheet{number}.xml"] = (
            f"{_XML}<worksheet {space}><sheetData>{body}</sheetData></worksheet>"
        )
    return _zipped(files)


def epub(chapters: Sequence[tuple[str, str]]) -> bytes:
    """A book: chapters with a title and a paragraph."""
    items = "".join(
        f'<item id="c{number}" href="c{number}.xhtml" media-type="application/xhtml+xml"/>'
        for number in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": f'{_XML}<container version="1.0" '
        'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "c.opf": f'{_XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">x</dc:identifier>'
        f"<dc:title>Book</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    for number, (title, text) in enumerate(chapters):
        files[f"c{number}.xhtml"] = (
            f'{_XML}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head>'
            f"<body><h1>{title}</h1><p>{text}</p></body></html>"
        )
    return _zipped(files)


def _types(*parts: tuple[str, str]) -> str:
    overrides = "".join(
        f'<Override PartName="{name}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>'
        for name, kind in parts
    )
    return (
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relations(*relations: tuple[str, str]) -> str:
    made = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(relations, 1)
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{made}</Relationships>'


def _zipped(files: dict[str, str]) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()
