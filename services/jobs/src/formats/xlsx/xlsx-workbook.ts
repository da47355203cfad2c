// The parts of a workbook that concern all cells: the first sheet, number formats, shared texts.
import { fileError } from '../table-file/file-error.ts';
import type { FileSource } from '../table-file/table-file.ts';
import { type DateKind, dateKind } from './xlsx-dates.ts';
import { readXml } from './xml.ts';
import { openZip, type Zip } from './zip.ts';

export type Workbook = {
  zip: Zip;
  /** The entry of the first visible sheet. */
  sheet: string;
  since1904: boolean;
  /** By the index of a cell's style. */
  styles: (DateKind | undefined)[];
  texts: string[];
};

/**
 * The limit for the shared texts of a workbook, which are held in memory; each counts 32 characters
 * more.
 */
export const maxSharedCharacters = 32 * 1024 * 1024;
const maxStyles = 70_000;

/** A file that isn't a workbook is a file error. */
export async function openWorkbook(source: FileSource): Promise<Workbook> {
  const zip = await openZip(source);
  const main = (await relationsOf(zip, '')).find(({ type }) => type.endsWith('/officeDocument'))?.target;
  if (main === undefined || !zip.has(main)) throw fileError('The file is a ZIP archive, but not an XLSX workbook.');
  const relations = await relationsOf(zip, main);
  const { sheets, since1904 } = await readMain(zip, main);
  const [first] = sheets;
  const sheet = relations.find(({ id }) => id === first)?.target;
  if (sheet === undefined || !zip.has(sheet)) throw fileError('The workbook has no sheet that can be read.');
  const entryOf = (kind: string) => {
    const entry = relations.find(({ type }) => type.endsWith(`/${kind}`))?.target;
    return entry !== undefined && zip.has(entry) ? entry : undefined;
  };
  return {
    zip,
    sheet,
    since1904,
    styles: await readStyles(zip, entryOf('styles')),
    texts: await readTexts(zip, entryOf('sharedStrings')),
  };
}

type Relation = { id: string; type: string; target: string };

// `entry` is empty for the package itself. Targets are relative to the folder of the entry.
async function relationsOf(zip: Zip, entry: string): Promise<Relation[]> {
  const slash = entry.lastIndexOf('/');
  const name = `${entry.slice(0, slash + 1)}_rels/${entry.slice(slash + 1)}.rels`;
  if (!zip.has(name)) return [];
  return gather(
    readXml<Relation>(zip.read(name), 'The list of parts', (emit) => ({
      open: (tag, { Id: id = '', Type: type = '', Target: target = '' }) => {
        const base = `http://workbook/${entry}`;
        if (tag === 'Relationship' && URL.canParse(target, base))
          emit({ id, type, target: new URL(target, base).pathname.slice(1) });
      },
      text: () => {},
      close: () => {},
    })),
    10_000,
  );
}

async function gather<T>(batches: AsyncIterable<T[]>, most: number): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) {
    for (const item of batch) all.push(item);
    if (all.length > most) throw fileError('The workbook has more parts or styles than any program gives it.');
  }
  return all;
}

async function readMain(zip: Zip, entry: string): Promise<{ sheets: string[]; since1904: boolean }> {
  let since1904 = false;
  const sheets = await gather(
    readXml<string>(zip.read(entry), 'The workbook part', (emit) => ({
      open: (tag, attributes) => {
        if (tag === 'workbookPr') since1904 = /^(1|true)$/.test(attributes.date1904 ?? '');
        const visible = (attributes.state ?? 'visible') === 'visible';
        const id = Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1];
        if (tag === 'sheet' && visible && id !== undefined) emit(id);
      },
      text: () => {},
      close: () => {},
    })),
    10_000,
  );
  return { sheets, since1904 };
}

async function readStyles(zip: Zip, entry: string | undefined): Promise<(DateKind | undefined)[]> {
  if (entry === undefined) return [];
  const codes = new Map<number, string>();
  let inCells = false;
  return gather(
    readXml<DateKind | undefined>(zip.read(entry), 'The styles part', (emit) => ({
      open: (tag, { numFmtId, formatCode }) => {
        if (tag === 'cellXfs') inCells = true;
        if (tag === 'numFmt') codes.set(Number(numFmtId), formatCode ?? '');
        if (tag === 'xf' && inCells) emit(dateKind(Number(numFmtId), codes.get(Number(numFmtId))));
        if (codes.size > maxStyles) throw fileError('The workbook has more styles than any program gives it.');
      },
      text: () => {},
      close: (tag) => {
        if (tag === 'cellXfs') inCells = false;
      },
    })),
    maxStyles,
  );
}

async function readTexts(zip: Zip, entry: string | undefined): Promise<string[]> {
  if (entry === undefined) return [];
  const texts: string[] = [];
  let size = 0;
  const batches = readXml<string>(zip.read(entry), 'The texts part', (emit) => {
    const text = new TextReader();
    return {
      open: (tag) => {
        if (tag === 'si') text.begin();
        text.open(tag);
      },
      text: (characters) => text.add(characters),
      close: (tag) => {
        text.close(tag);
        if (tag === 'si') emit(text.take());
      },
    };
  });
  for await (const batch of batches)
    for (const text of batch) {
      size += text.length + 32;
      if (size > maxSharedCharacters)
        throw fileError(
          `The texts of the workbook take more than ${maxSharedCharacters} characters; send the table as CSV, NDJSON or Parquet.`,
        );
      texts.push(text);
    }
  return texts;
}

/**
 * Collects the text of a cell from its runs, without the phonetic readings of East Asian
 * characters.
 */
export class TextReader {
  private text = '';
  private inText = false;
  private readings = 0;

  begin(): void {
    this.text = '';
    this.inText = false;
    this.readings = 0;
  }

  open(tag: string): void {
    if (tag === 'rPh') this.readings += 1;
    if (tag === 't') this.inText = this.readings === 0;
  }

  add(characters: string): void {
    if (this.inText) this.text += characters;
  }

  close(tag: string): void {
    if (tag === 'rPh') this.readings -= 1;
    if (tag === 't') this.inText = false;
  }

  take(): string {
    return unescaped(this.text);
  }
}

/** Characters that XML can't hold stand as _xHHHH_. */
export const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
