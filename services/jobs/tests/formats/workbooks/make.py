# Makes the workbooks beside this file with the programs that people make theirs with; see README.md.
import datetime
import decimal
import pathlib
import subprocess
import tempfile

import openpyxl
import pandas
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.utils.datetime import CALENDAR_MAC_1904

here = pathlib.Path(__file__).parent
header = ["code", "amount", "ok", "day", "at", "note"]


def by_openpyxl():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(header)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    noon = datetime.datetime(2024, 2, 29, 12, 0, 0, 500000)
    sheet.append(["007", 7, True, datetime.date(2024, 2, 29), noon, " two\nlines "])
    sheet.append(["B", decimal.Decimal("1.10"), False, datetime.date(1900, 3, 1), None, "=1+1"])
    sheet.append(["C", "=B2*2", None, None, None, None])
    sheet.append(["D", "#N/A", None, None, None, None])
    sheet.append([])
    sheet.append([None, "=1/3", None, None, None, None])
    sheet.append(["E", 0.1 + 0.2, None, None, datetime.timedelta(hours=36), "merged"])
    sheet.merge_cells("F8:G8")
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    sheet["A2"].comment = Comment("a comment", "someone")
    sheet["A2"].hyperlink = "https://example.com/"
    sheet.auto_filter.ref = "A1:F8"
    book.create_sheet("Other").append(["something", "else"])
    book.save(here / "openpyxl.xlsx")


def by_openpyxl_since_1904():
    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    book.active.append(["code", "day"])
    book.active.append(["A", datetime.date(2024, 2, 29)])
    book.active.append(["B", datetime.date(1904, 1, 2)])
    book.save(here / "openpyxl-1904.xlsx")


def by_pandas():
    frame = pandas.DataFrame(
        {
            "code": ["007", "B", None],
            "amount": [7.5, float("nan"), 1e15],
            "ok": [True, False, None],
            "day": [datetime.date(2024, 2, 29), None, datetime.date(1999, 12, 31)],
            "at": pandas.to_datetime(["2024-02-29T12:34:56.789", None, "1999-12-31"]),
            "note": ["a", "", "=1+1"],
        }
    )
    frame.to_excel(here / "pandas.xlsx", index=False)


def by_libreoffice():
    with tempfile.TemporaryDirectory() as folder:
        for source in [here / "libreoffice.fods", here / "openpyxl.xlsx"]:
            subprocess.run(
                ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless"]
                + ["--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", folder, source],
                check=True,
            )
        (here / "libreoffice.xlsx").write_bytes((pathlib.Path(folder) / "libreoffice.xlsx").read_bytes())
        saved = (pathlib.Path(folder) / "openpyxl.xlsx").read_bytes()
        (here / "openpyxl-saved-by-libreoffice.xlsx").write_bytes(saved)


by_openpyxl()
by_openpyxl_since_1904()
by_pandas()
by_libreoffice()
