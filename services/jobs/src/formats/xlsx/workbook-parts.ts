// The parts of a workbook around its sheets, in the order and completeness that ECMA-376 requires:
// openpyxl, and hence pandas, rejects a workbook without the two fills. Pure.

const spreadsheetml = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** Indexes of cell styles in `cellXfs`. */
export const cellStyles = { date: 1, dateTime: 2, header: 3 };

const xf = (format: number, font: number, more = '') =>
  `<xf numFmtId="${format}" fontId="${font}" fillId="0" borderId="0"${more}/>`;
const font = (bold: string) => `<font>${bold}<sz val="11"/><name val="Calibri"/><family val="2"/></font>`;
const styles = [
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd hh:mm:ss.000"/></numFmts>',
  `<fonts count="2">${font('')}${font('<b/>')}</fonts>`,
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>',
  `<cellStyleXfs count="1">${xf(0, 0)}</cellStyleXfs>`,
  '<cellXfs count="4">',
  xf(0, 0, ' xfId="0"'),
  xf(164, 0, ' xfId="0" applyNumberFormat="1"'),
  xf(165, 0, ' xfId="0" applyNumberFormat="1"'),
  xf(0, 1, ' xfId="0" applyFont="1"'),
  '</cellXfs>',
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>',
].join('');

/** The XML before the elements of a sheet, and after them. */
export const sheetFrame: [before: string, behind: string] = [
  `${declaration}<worksheet xmlns="${spreadsheetml}">`,
  '</worksheet>',
];

export type SheetName = { name: string; hidden?: boolean };

/** The entry of a sheet, from 1. */
export const sheetEntry = (number: number): string => `xl/worksheets/sheet${number}.xml`;

/** Every part but the sheets. */
export function packageParts(sheets: readonly SheetName[]): Record<string, string> {
  const kind = (entry: string, name: string) =>
    `<Override PartName="/${entry}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${name}+xml"/>`;
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`;
  const numbers = sheets.map((_, i) => i + 1);
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${kind('xl/workbook.xml', 'sheet.main')}${kind('xl/styles.xml', 'styles')}${numbers.map((n) => kind(sheetEntry(n), 'worksheet')).join('')}</Types>`,
    '_rels/.rels': `<Relationships xmlns="${packages}/relationships">${relation('r1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${spreadsheetml}" xmlns:r="${relations}"><bookViews><workbookView/></bookViews><sheets>${sheets.map(({ name, hidden }, i) => `<sheet name="${name}" sheetId="${i + 1}"${hidden ? ' state="hidden"' : ''} r:id="r${i + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships">${numbers.map((n) => relation(`r${n}`, 'worksheet', sheetEntry(n).slice('xl/'.length))).join('')}${relation(`r${sheets.length + 1}`, 'styles', 'styles.xml')}</Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${spreadsheetml}">${styles}</styleSheet>`,
  };
  return Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, declaration + xml]));
}
