// Copies kept from exports alone always equal the table, whatever happens to it. There are copies
// on a branch, by imports of the files in every format, and in SQLite, by key and by svc_sk.
// COPY_RUNS: the number of tables (1); COPY_STEPS: the number of steps for each (12); COPY_SEED
// repeats a run.
import type { Api } from '@almanac/api-client/api';
import { randomOf } from '@almanac/testkit/random';
import { type DeployedTable, exportFile, givenAccount } from '@almanac/testkit/system/builders';
import { type Change, readChanges, type TextFormat, textFormats } from '../../support/copies/changes-file.ts';
import { columns, importAll, Source } from '../../support/copies/source.ts';
import { type Copy, createCopyByKey, createCopyBySk } from '../../support/copies/sqlite-copy.ts';

const seed = Number(process.env.COPY_SEED ?? Date.now() % 1_000_000);
const runs = Number(process.env.COPY_RUNS ?? 1);
const steps = Number(process.env.COPY_STEPS ?? 12);
const formats = ['csv', 'ndjson', 'xlsx', 'tsv', 'parquet', 'json'];

let api: Api;

beforeAll(async () => {
  api = await (await givenAccount({ plan: 'enterprise' })).person();
});

type Values = Record<string, unknown>;

/** The same texts for the same rows, in any order; only of columns that the table has now. */
function shown(rows: Values[], names: string[]): string[] {
  const cell = (name: string, value: unknown) =>
    value === null || value === undefined ? null : /^(part|amount)$/.test(name) ? Number(value) : String(value);
  return rows.map((row) => JSON.stringify(names.map((name) => cell(name, row[name])))).toSorted();
}

/** Exports from one high-water mark on, each from where the last one ended. */
class Chain {
  private mark = '2000-01-01T00:00:00Z';
  private readonly table: DeployedTable;

  constructor(table: DeployedTable) {
    this.table = table;
  }

  /**
   * The changes in each of these formats, of the same period. The next call starts where the first
   * of these exports ended.
   */
  async next(wanted: string[]): Promise<Uint8Array[]> {
    const { mark } = this;
    const files: Uint8Array[] = [];
    for (const [i, format] of wanted.entries()) {
      const wish = { pattern: 'incremental', high_water_mark: mark, format };
      const { done, file } = await exportFile(api, this.table, wish);
      files.push(file);
      if (i === 0) this.mark = done.next_high_water_mark;
    }
    return files;
  }
}

type Copies = { source: Source; twin: DeployedTable; twinChain: Chain; sqliteChain: Chain; sqlite: Copy[] };

/** Applies the changes to SQLite from one format, and to the branch from another. */
async function keep({ twin, twinChain, sqliteChain, sqlite }: Copies, at: number): Promise<void> {
  const textFormat = textFormats[at % textFormats.length] as TextFormat;
  const [text] = await sqliteChain.next([textFormat]);
  const changes = readChanges(textFormat, new TextDecoder().decode(text));
  expectNet(changes);
  for (const copy of sqlite) for (const change of changes) copy.apply(change);
  const format = formats[at % formats.length] as string;
  const [file] = await twinChain.next([format]);
  await importAll(api, twin, { pattern: 'incremental_with_delete', format }, file as Uint8Array);
}

function expectNet(changes: Change[]): void {
  const keys = changes.map(({ values }) => `${values.code} ${values.part}`);
  expect(keys).toHaveLength(new Set(keys).size);
  const present = changes.findIndex(({ isDeleted }) => !isDeleted);
  expect(changes.slice(present === -1 ? changes.length : present).filter(({ isDeleted }) => isDeleted)).toEqual([]);
}

async function expectEqual({ source, twin, sqlite }: Copies, when: string): Promise<void> {
  const rows = (await source.rows()) as Values[];
  const names = columns.map(({ name }) => name).filter((name) => rows[0] && name in rows[0]);
  const there = shown(rows, names);
  const { data } = await api.get<{ data: Values[] }>(`/table_data?table_definition_id=${twin.id}&per_page=1000`);
  const [byKey, bySk] = sqlite.map((copy) => shown(copy.rows(), names));
  expect({ when, byKey, bySk, branch: shown(data, names) }).toEqual({ when, byKey: there, bySk: there, branch: there });
}

async function run(runSeed: number): Promise<void> {
  const random = randomOf(runSeed);
  const { source, twin } = await Source.create(api, random);
  const sqlite = [await createCopyByKey(), await createCopyBySk()];
  const copies: Copies = {
    source,
    twin,
    twinChain: new Chain(source.table),
    sqliteChain: new Chain(source.table),
    sqlite,
  };
  const done: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    for (let i = random(3); i >= 0; i -= 1) done.push(await source.act());
    // A copy taken during other writes is correct too: the next export has what this one missed.
    if (random(2) === 0) {
      const [name] = await Promise.all([source.act('rows'), keep(copies, random(60))]);
      done.push(`${name}, beside an export`);
    }
    await keep(copies, random(60));
    await expectEqual(copies, `COPY_SEED=${runSeed}: ${done.join('; ')}`);
  }
  for (const copy of sqlite) copy.close();
}

it('copies are never wrong', async () => {
  for (let i = 0; i < runs; i += 1) {
    console.log(`COPY_SEED=${seed + i}`);
    await run(seed + i);
  }
}, 36_000_000);
