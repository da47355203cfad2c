// The rules of ECMA-376 for workbooks that lenient readers don't enforce, for tests of our writer:
// part 1 for the order and number of elements, part 2 for the package.
import { SaxesParser } from 'saxes';
import { openZip, type Zip } from '../../src/formats/xlsx/zip.ts';
import { fileOf } from './files.ts';

type Element = { name: string; attributes: Record<string, string>; children: Element[] };

// The order of child elements (CT_Worksheet, CT_Workbook, CT_Stylesheet), for those that we write.
const orders: Record<string, string[]> = {
  worksheet: [
    ...['sheetPr', 'dimension', 'sheetViews', 'sheetFormatPr', 'cols', 'sheetData', 'sheetProtection', 'autoFilter'],
    ...['mergeCells', 'conditionalFormatting', 'dataValidations', 'hyperlinks', 'pageMargins', 'pageSetup'],
  ],
  workbook: ['workbookPr', 'workbookProtection', 'bookViews', 'sheets', 'definedNames', 'calcPr'],
  styleSheet: [
    ...['numFmts', 'fonts', 'fills', 'borders', 'cellStyleXfs', 'cellXfs', 'cellStyles', 'dxfs', 'tableStyles'],
  ],
};
const listed = ['fonts', 'fills', 'borders', 'cellStyleXfs', 'cellXfs', 'cellStyles'];

/** The rules that the package breaks, each a sentence; none for a valid workbook. */
export async function packageProblems(bytes: Uint8Array): Promise<string[]> {
  const zip = await openZip(fileOf(bytes, 100_000));
  const workbook = await elementOf(zip, 'xl/workbook.xml');
  const styles = await elementOf(zip, 'xl/styles.xml');
  const relations = (await elementOf(zip, 'xl/_rels/workbook.xml.rels')).children;
  const types = (await elementOf(zip, '[Content_Types].xml')).children;
  const typed = types.flatMap(({ attributes }) => attributes.PartName ?? []);
  const targets = relations.map(({ attributes }) => `xl/${attributes.Target}`);
  const problems = [...orderProblems(workbook), ...orderProblems(styles), ...stylesProblems(styles)];
  for (const part of ['xl/workbook.xml', ...targets]) {
    if (!zip.has(part)) problems.push(`${part} is named and not there`);
    if (!typed.includes(`/${part}`)) problems.push(`${part} has no content type`);
  }
  problems.push(...twice('relation', relations, 'Id'), ...twice('content type', types, 'PartName'));
  const sheets = child(workbook, 'sheets')?.children ?? [];
  for (const key of ['name', 'sheetId', 'r:id']) problems.push(...twice('sheet', sheets, key));
  if ((child(workbook, 'bookViews')?.children.length ?? 0) === 0) problems.push('sheet views have no view of the book');
  const cellStyles = child(styles, 'cellXfs')?.children.length ?? 0;
  for (const target of targets.filter((name) => name.includes('worksheets/'))) {
    const sheet = await elementOf(zip, target);
    problems.push(...orderProblems(sheet), ...sheetProblems(sheet, cellStyles).map((each) => `${target}: ${each}`));
  }
  return problems;
}

async function elementOf(zip: Zip, name: string): Promise<Element> {
  const parser = new SaxesParser({ position: false });
  const root: Element = { name: '', attributes: {}, children: [] };
  const open = [root];
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => {
    open.pop();
  });
  parser.on('error', (error) => {
    throw error;
  });
  for await (const chunk of zip.read(name)) parser.write(Buffer.from(chunk).toString());
  parser.close();
  return root.children[0] as Element;
}

const child = ({ children }: Element, wanted: string) => children.find(({ name }) => name === wanted);

function twice(what: string, elements: Element[], key: string): string[] {
  const values = elements.flatMap(({ attributes }) => attributes[key] ?? []);
  return values
    .filter((value, i) => values.indexOf(value) !== i)
    .map((value) => `two ${what}s have the ${key} ${value}`);
}

function orderProblems({ name: parent, children }: Element): string[] {
  const order = orders[parent] ?? [];
  const targets = children.map(({ name }) => order.indexOf(name));
  return children.flatMap(({ name }, i) => {
    if (targets[i] === -1) return [`${name} is no element of ${parent}`];
    return i > 0 && (targets[i] as number) <= (targets[i - 1] as number) ? [`${name} comes too late in ${parent}`] : [];
  });
}

function stylesProblems(styles: Element): string[] {
  const problems: string[] = [];
  const count = (name: string) => child(styles, name)?.children.length ?? 0;
  for (const name of listed) {
    if (count(name) === 0) problems.push(`styles without ${name}`);
    const stated = child(styles, name)?.attributes.count;
    if (stated !== String(count(name))) problems.push(`${name} count ${stated}, not ${count(name)}`);
  }
  const fills = child(styles, 'fills')?.children.map((fill) => fill.children[0]?.attributes.patternType);
  if (fills?.[0] !== 'none' || fills[1] !== 'gray125') problems.push('the first fills are not none and gray125');
  const formats = child(styles, 'numFmts')?.children.map(({ attributes }) => attributes.numFmtId) ?? [];
  const bounds = { fontId: count('fonts'), fillId: count('fills'), borderId: count('borders') };
  for (const list of ['cellStyleXfs', 'cellXfs'])
    for (const { attributes } of child(styles, list)?.children ?? []) {
      for (const [key, most] of Object.entries(bounds))
        if (!(Number(attributes[key]) < most)) problems.push(`${list} with ${key} ${attributes[key]}`);
      if (Number(attributes.numFmtId) >= 164 && !formats.includes(attributes.numFmtId))
        problems.push(`${list} with numFmtId ${attributes.numFmtId}`);
      if (list === 'cellXfs' && !(Number(attributes.xfId) < count('cellStyleXfs')))
        problems.push(`${list} with xfId ${attributes.xfId}`);
    }
  return problems;
}

function sheetProblems(sheet: Element, cellStyles: number): string[] {
  const problems: string[] = [];
  let last = 0;
  for (const { attributes, children } of child(sheet, 'sheetData')?.children ?? []) {
    const number = Number(attributes.r);
    if (number <= last) problems.push(`row ${attributes.r} after row ${last}`);
    last = number;
    let before = '';
    for (const cell of children) {
      const reference = cell.attributes.r ?? '';
      const letters = reference.replace(/\d+$/, '');
      const isLater = letters.length > before.length || (letters.length === before.length && letters > before);
      if (!isLater || reference !== `${letters}${number}`) problems.push(`cell ${reference} in row ${number}`);
      before = letters;
      if (Number(cell.attributes.s ?? 0) >= cellStyles) problems.push(`${reference} has style ${cell.attributes.s}`);
      const wanted = cell.attributes.t === 'inlineStr' ? 'is' : 'v';
      if (cell.children.map(({ name }) => name).join() !== wanted) problems.push(`${reference} has no ${wanted}`);
    }
  }
  const validations = child(sheet, 'dataValidations');
  if (validations && validations.attributes.count !== String(validations.children.length))
    problems.push(`dataValidations count ${validations.attributes.count}`);
  return problems;
}
