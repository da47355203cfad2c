# Opens a workbook for editing with openpyxl as a person would: prints what it shows, changes B2 of
# the visible sheet (column D), adds a row, and saves it under another name.
import json
import sys

import openpyxl

book = openpyxl.load_workbook(sys.argv[1])
sheet = book.worksheets[0]
print(
    json.dumps(
        {
            "sheets": [[each.title, each.sheet_state] for each in book.worksheets],
            "frozen": sheet.freeze_panes,
            "bold": sheet["C1"].font.bold,
            "hidden": [letter for letter, column in sheet.column_dimensions.items() if column.hidden],
            "lists": [[str(each.sqref), each.formula1] for each in sheet.data_validations.dataValidation],
            "explained": [row[0] for row in book.worksheets[1].iter_rows(values_only=True)],
        }
    )
)
sheet["D2"] = "edited"
sheet.append([None, None, "NEW", "new", 2])
book.save(sys.argv[2])
