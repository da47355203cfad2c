// The parts of a workbook for editing besides its rows: lists of allowed values, and a sheet that
// explains each column and how to import the workbook. Pure.
import { addressOf, lettersOf } from './cell-addresses.ts';
import { cellWriterOf, escaped, textCell } from './cell-xml.ts';
import { cellStyles } from './workbook-parts.ts';
import type { SheetExtras } from './xlsx-writer.ts';

/** They tell an import which row was edited, and whether it has changed since. */
export const versionColumns = ['svc_sk', 'svc_version'] as const;

export type EditedColumn = {
  name: string;
  dataType: string;
  isRequired: boolean;
  isKey: boolean;
  description: string;
  /** The allowed values; undefined: any. */
  choices?: readonly string[] | undefined;
  /** The table that the values are keys of; keys added to it since are valid too. */
  refersTo?: string | undefined;
};

const lastRow = 1_048_576;

/** `columns` are those of the table; in the sheet they follow the version columns. */
export function editingExtras(table: string, columns: readonly EditedColumn[]): SheetExtras {
  const listed = columns.flatMap((column, i) =>
    column.choices && column.choices.length > 0
      ? [{ ...column, choices: column.choices, place: i + versionColumns.length }]
      : [],
  );
  const validations = listed.map(({ choices, place, refersTo }, i) => {
    const letters = lettersOf(place);
    const list = `Lists!$${lettersOf(i)}$1:$${lettersOf(i)}$${choices.length}`;
    const onInvalid =
      refersTo === undefined
        ? 'errorStyle="stop" error="Choose one of the valid values of this column."'
        : `errorStyle="warning" error="${escapeAttribute(`No row of ${refersTo} had this key when the workbook was made.`)}"`;
    return `<dataValidation type="list" ${onInvalid} allowBlank="1" showErrorMessage="1" sqref="${letters}2:${letters}${lastRow}"><formula1>${list}</formula1></dataValidation>`;
  });
  const afterRows =
    validations.length === 0
      ? ''
      : `<dataValidations count="${validations.length}">${validations.join('')}</dataValidations>`;
  const lists = { name: 'Lists', hidden: true, xml: listsXml(listed) };
  return {
    hidden: new Set(versionColumns),
    afterRows,
    sheets: [{ name: 'How to edit', xml: explanationXml(table, columns) }, ...(listed.length > 0 ? [lists] : [])],
  };
}

const escapeAttribute = (text: string) => escaped(text).replaceAll('"', '&quot;');

// A column for each list; its cells have the type of the column that uses it.
function listsXml(listed: readonly { dataType: string; choices: readonly string[] }[]): string {
  const rows: string[] = [];
  const longest = Math.max(0, ...listed.map(({ choices }) => choices.length));
  for (let row = 1; row <= longest; row += 1) {
    const cells = listed.map(({ dataType, choices }, i) => {
      const choice = choices[row - 1];
      return choice === undefined ? '' : `<c r="${addressOf(i, row)}"${cellWriterOf(dataType)(choice)}</c>`;
    });
    rows.push(`<row r="${row}">${cells.join('')}</row>`);
  }
  return `<sheetData>${rows.join('')}</sheetData>`;
}

const steps = [
  'Change cells of the sheet Rows. New rows go below the others; their hidden cells svc_sk and svc_version stay empty.',
  'Leave the header, and the keys of rows that are there, as they are. A row that is taken out of the sheet stays in the table.',
  'Save as XLSX and import the file into the same table with the pattern incremental; on_error reject_rows takes what can be taken.',
  'Rows that are as they were are left alone. A row that others have changed since is rejected, not overwritten.',
];
const headings = ['Column', 'Type', 'Required', 'Cells hold', 'What it is'];

function explanationXml(table: string, columns: readonly EditedColumn[]): string {
  const lines = [
    [`How to edit the table ${table}, and import it again`],
    ...steps.map((step, i) => [`${i + 1}. ${step}`]),
    [],
    headings,
    ...columns.map((column) => [
      column.name,
      column.dataType,
      column.isKey ? 'yes, the key' : column.isRequired ? 'yes' : 'no',
      contentOf(column),
      column.description,
    ]),
  ];
  const bold = new Set([1, steps.length + 3]);
  const rows = lines.map((texts, i) => {
    const style = bold.has(i + 1) ? ` s="${cellStyles.header}"` : '';
    return `<row r="${i + 1}">${texts.map((text, place) => `<c r="${addressOf(place, i + 1)}"${style}${textCell(text)}</c>`).join('')}</row>`;
  });
  const widths = [30, 14, 14, 40, 60].map(
    (width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`,
  );
  return `<cols>${widths.join('')}</cols><sheetData>${rows.join('')}</sheetData>`;
}

function contentOf({ refersTo, choices }: EditedColumn): string {
  if (refersTo !== undefined) return `a key of the table ${refersTo}`;
  return choices === undefined ? 'any value of the type' : 'a value of the list';
}
