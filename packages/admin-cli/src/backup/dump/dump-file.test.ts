import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { readDump, writeDump } from './dump-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'almanac-dump-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Part = { statement: string } | { copy: string; rows: string };

// In pieces of one byte, so that each boundary is tried.
async function* bytesOf(text: string) {
  for (const byte of Buffer.from(text)) yield Buffer.from([byte]);
}

async function write(name: string, parts: Part[]): Promise<string> {
  const path = join(folder, name);
  await writeDump(path, async (writer) => {
    for (const part of parts)
      if ('statement' in part) await writer.statement(part.statement);
      else await writer.rows(part.copy, bytesOf(part.rows));
  });
  return path;
}

async function read(path: string): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of readDump(path)) {
    if ('statement' in part) parts.push(part);
    else {
      const chunks = [];
      for await (const chunk of part.rows) chunks.push(chunk);
      parts.push({ copy: part.copy, rows: Buffer.concat(chunks).toString() });
    }
  }
  return parts;
}

const tables: [string, string][] = [
  ['no row', ''],
  ['an empty row', '\n'],
  ['a row that looks like the end', '\\\\.\n'],
  ['rows around one that looks like the end', 'a\n\\\\.\n\\\\.\tb\n.\n\\N\n'],
  ['text beyond ASCII', 'Zürich\t東京\n'],
];

it.each(tables)('reads %s as it was written', async (name, rows) => {
  const parts: Part[] = [
    { statement: "create table t (a text default ';\n-- statement 3\n\\.\n')" },
    { copy: 'copy t (a) from stdin', rows },
    { statement: 'create index on t (a)' },
    { copy: 'copy u (a) from stdin', rows: 'x\n' },
  ];
  expect(await read(await write(name, parts))).toEqual(parts);
});

it('is plain SQL', async () => {
  const path = await write('plain', [{ statement: 'create table t ()' }, { copy: 'copy t from stdin', rows: 'a\n' }]);
  expect(gunzipSync(readFileSync(path)).toString()).toBe(
    '-- statement 17\ncreate table t ();\n-- rows 17\ncopy t from stdin;\na\n\\.\n',
  );
});

it.each([
  ['rows', '-- rows 17\ncopy t from stdin;\na\n'],
  ['a statement', '-- statement 17\ncreate'],
  ['a line', '-- state'],
])('refuses a file that ends within %s', async (name, text) => {
  const path = join(folder, name);
  writeFileSync(path, gzipSync(text));
  await expect(read(path)).rejects.toThrow('The backup is damaged: a dump ends too early.');
});

it('fails with the error of its source, and leaves no open file', async () => {
  const failing = writeDump(join(folder, 'failing'), async (writer) => {
    await writer.statement('select 1');
    throw new Error('the connection is lost');
  });
  await expect(failing).rejects.toThrow('the connection is lost');
});

it('fails where no file can be written', async () => {
  const failing = writeDump(join(folder, 'missing', 'file'), async (writer) => {
    for (;;) await writer.statement('select 1');
  });
  await expect(failing).rejects.toThrow('ENOENT');
});
