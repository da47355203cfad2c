# Prints what openpyxl and pandas read in the first sheet of a workbook, as JSON: the rows below the
# header, each cell as null or as [kind, text]. Both leave escapes of characters that XML can't hold
# (_xHHHH_) to the caller.
import datetime
import json
import sys

import openpyxl
import pandas
from openpyxl.utils.escape import unescape


def shown(value):
    if value is None or value != value:  # NaN and NaT: pandas has them where a cell is missing
        return None
    if isinstance(value, bool):
        return ["boolean", "true" if value else "false"]
    if isinstance(value, (int, float)):
        return ["number", repr(value)]
    if isinstance(value, datetime.datetime):
        # pandas reads a text as a moment where the rest of its column are moments.
        return ["moment", value.replace(tzinfo=None).isoformat(timespec="milliseconds")]
    if isinstance(value, str):
        return ["text", unescape(value)]
    return [type(value).__name__, str(value)]


def by_openpyxl(path):
    sheet = openpyxl.load_workbook(path).worksheets[0]
    return [[shown(cell) for cell in row] for row in sheet.iter_rows(min_row=2, values_only=True)]


def by_pandas(path):
    frame = pandas.read_excel(path, dtype=object, keep_default_na=False)
    return [[shown(cell) for cell in row] for row in frame.astype(object).values.tolist()]


print(json.dumps({"openpyxl": by_openpyxl(sys.argv[1]), "pandas": by_pandas(sys.argv[1])}))
