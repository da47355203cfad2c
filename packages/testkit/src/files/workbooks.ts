// ZIP archives and workbooks, made from their parts.
import yazl from 'yazl';

/** A ZIP archive of these files. */
export async function zipOf(entries: Record<string, string | Uint8Array>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, content] of Object.entries(entries)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const parts: Buffer[] = [];
  for await (const part of zip.outputStream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relation = (id: number, type: string, target: string) =>
  `<Relationship Id="r${id}" Type="${relations}/${type}" Target="${target}"/>`;
const list = (...items: string[]) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${items.join('')}</Relationships>`;

type Parts = { texts?: string; styles?: string; workbookPr?: string; sheets?: string; extra?: Record<string, string> };

/** A workbook whose first sheet has these rows, as XML. */
export function workbookOf(rows: string, { texts, styles, workbookPr = '', sheets, extra = {} }: Parts = {}) {
  return zipOf({
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': list(relation(1, 'officeDocument', 'xl/workbook.xml')),
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relations}">${workbookPr}<sheets>${sheets ?? '<sheet name="a" sheetId="1" r:id="r1"/>'}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': list(
      relation(1, 'worksheet', 'worksheets/sheet1.xml'),
      relation(2, 'styles', '/xl/styles.xml'),
      relation(3, 'sharedStrings', 'sharedStrings.xml'),
      relation(4, 'worksheet', 'worksheets/sheet2.xml'),
    ),
    'xl/worksheets/sheet1.xml': `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`,
    ...(texts === undefined ? {} : { 'xl/sharedStrings.xml': `<sst xmlns="${main}">${texts}</sst>` }),
    ...(styles === undefined ? {} : { 'xl/styles.xml': `<styleSheet xmlns="${main}">${styles}</styleSheet>` }),
    ...extra,
  });
}

/** A row of texts without references, as the simplest programs write them. */
export const textRow = (...texts: string[]): string =>
  `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;
