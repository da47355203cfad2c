// Dozens of imports and exports, some of them refused or cancelled, by a client that repeats
// unanswered requests; and what holds of them afterwards, whatever was killed during them.
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { type Answer, type Api, poll } from '@almanac/api-client/api';
import { type DeployedTable, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';
import fc from 'fast-check';

/** `fate`: the outcome if nothing is killed; `afterMs`: when it is cancelled. */
export type Piece = {
  kind: 'import' | 'export';
  fate: 'ends' | 'refused' | 'cancelled';
  afterMs: number;
  gzip: boolean;
};

/** The same pieces for the same seed. */
export const planPieces = (seed: number, count: number): Piece[] =>
  fc.sample(
    fc.record({
      kind: fc.constantFrom<Piece['kind']>('import', 'import', 'export'),
      fate: fc.constantFrom<Piece['fate']>('ends', 'ends', 'ends', 'ends', 'refused', 'cancelled'),
      afterMs: fc.integer({ min: 0, max: 1_500 }),
      gzip: fc.boolean(),
    }),
    { seed, numRuns: count },
  );

const rowsPerFile = 2_000;
const endsWithinMs = 600_000;
const lanesPerAccount = 3;
const tooLong = 'x'.repeat(100);

type ImportTable = {
  id: number;
  table_definition_id: number;
  status: string;
  errors: string[];
  metrics: null | Metrics;
};
type Metrics = { inserted: number; rejected: number };
type Import = { id: number; status: string; import_tables: ImportTable[] };
type Export = {
  id: number;
  status: string;
  error: string | null;
  download_url: string | null;
  rows_exported: number;
  bytes_exported: number;
};

type Account = {
  id: number;
  api: Api;
  /** One table with a primary key, and one without, where a file that is merged twice shows. */
  keyed: DeployedTable;
  loose: DeployedTable;
  imports: { piece: number; id: number }[];
  exports: number[];
};

export type Storm = {
  accounts: Account[];
  /** Does all pieces, and continues with more of them while `shouldContinue` says so. */
  work(shouldContinue: () => boolean): Promise<void>;
  expectTruth(): Promise<Counts>;
};
export type Counts = { completed: number; failed: number; cancelled: number };

/**
 * Accounts with tables for the pieces; `work` does all of them, several at once in each account.
 */
export async function givenStorm(pieces: readonly Piece[]): Promise<Storm> {
  const accounts = [await givenTables(), await givenTables()];
  let next = 0;
  const lane = async (account: Account, shouldContinue: () => boolean) => {
    while (next < pieces.length || shouldContinue()) {
      const number = next;
      next += 1;
      const piece = pieces[number % pieces.length] as Piece;
      await (piece.kind === 'import' ? importPiece : exportPiece)(account, number, piece);
    }
  };
  return {
    accounts,
    work: async (shouldContinue) => {
      await Promise.all(
        accounts.flatMap((account) => Array.from({ length: lanesPerAccount }, () => lane(account, shouldContinue))),
      );
    },
    expectTruth: async () => {
      const counts = { completed: 0, failed: 0, cancelled: 0 };
      for (const account of accounts) await expectTruth(account, counts);
      return counts;
    },
  };
}

async function givenTables(): Promise<Account> {
  const account = await givenAccount({ plan: 'enterprise' });
  const api = await account.person();
  const columns = [
    { name: 'piece', data_type: 'integer' },
    { name: 'note', data_type: 'string', length: 50 },
  ];
  const code = { name: 'code', data_type: 'string', length: 20 };
  const keyed = await givenDeployedTable(api, {
    columns: [{ ...code, is_primary_key: true, is_required: true }, ...columns],
  });
  const loose = await givenDeployedTable(api, { columns: [code, ...columns] });
  return { id: account.id, api, keyed, loose, imports: [], exports: [] };
}

/**
 * Any other status is a fault of the system. `fetch` repeats unanswered requests with the same key.
 */
async function ask<T>(
  { api }: Account,
  statuses: number[],
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const answer = await api.send<T>(method, path, method === 'POST' ? (body ?? {}) : body, {
    headers,
    signal: AbortSignal.timeout(endsWithinMs),
  });
  if (!statuses.includes(answer.status))
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

const keyOf = (what: string, piece: number) => ({ 'Idempotency-Key': `${what}-${piece}` });

function fileOf(piece: number, lastNote = 'a note'): string {
  const lines = Array.from({ length: rowsPerFile }, (_, n) => `p${piece}-${n},${piece},a note\n`);
  lines[rowsPerFile - 1] = `p${piece}-${rowsPerFile - 1},${piece},${lastNote}\n`;
  return `code,piece,note\n${lines.join('')}`;
}

async function importPiece(account: Account, piece: number, { fate, afterMs }: Piece): Promise<void> {
  const wish = { branch_id: account.keyed.branchId };
  const { id } = (await ask<Import>(account, [201], 'POST', '/imports', wish, keyOf('import', piece))).body;
  const path = `/imports/${id}`;
  account.imports.push({ piece, id });
  for (const [table, file] of [
    [account.keyed, fileOf(piece, fate === 'refused' ? tooLong : undefined)],
    [account.loose, fileOf(piece)],
  ] as const) {
    const tableId = await addTable(account, path, table);
    await ask(account, [200], 'PUT', `${path}/tables/${tableId}/file`, file, { 'Content-Type': 'text/csv' });
  }
  // 422: the first request arrived, and the import has ended since.
  await ask(account, [200, 422], 'POST', `${path}/upload_complete`);
  if (fate === 'cancelled') {
    await sleep(afterMs);
    await ask(account, [200, 422], 'POST', `${path}/cancel`);
  }
  await ended<Import>(account, path);
}

async function addTable(account: Account, path: string, table: DeployedTable): Promise<number> {
  const wish = { table_definition_id: table.id, pattern: 'incremental' };
  const added = await ask<ImportTable>(account, [201, 422], 'POST', `${path}/tables`, wish);
  if (added.status === 201) return added.body.id;
  const { import_tables } = (await ask<Import>(account, [200], 'GET', path)).body;
  const found = import_tables.find(({ table_definition_id }) => table_definition_id === table.id);
  if (!found) throw new Error(`${path} has no table ${table.key}: ${JSON.stringify(added.body)}`);
  return found.id;
}

async function exportPiece(account: Account, piece: number, { fate, afterMs, gzip }: Piece): Promise<void> {
  const wish = { branch_id: account.keyed.branchId, table_definition_key: account.keyed.key, pattern: 'full', gzip };
  const { id } = (await ask<Export>(account, [201], 'POST', '/exports', wish, keyOf('export', piece))).body;
  account.exports.push(id);
  if (fate === 'cancelled') {
    await sleep(afterMs);
    await ask(account, [200, 422], 'POST', `/exports/${id}/cancel`);
  }
  const done = await ended<Export>(account, `/exports/${id}`);
  // Each import is in a snapshot completely or not at all.
  if (done.status === 'completed')
    for (const codes of (await download(account, done)).values()) expect(codes.size).toBe(rowsPerFile);
}

const ended = <T extends { status: string }>(account: Account, path: string): Promise<T> =>
  poll(
    async () => (await ask<T>(account, [200], 'GET', path)).body,
    ({ status }) => /^(completed|completed_with_errors|failed|cancelled)$/.test(status),
    { timeoutMs: endsWithinMs },
  );

/**
 * The codes in the file of an export by piece; throws when the file differs from the export's
 * figures, or has a row twice.
 */
async function download(account: Account, { id }: Export): Promise<Map<number, Set<string>>> {
  for (let tries = 1; ; tries += 1) {
    const { body } = await ask<Export>(account, [200], 'GET', `/exports/${id}`);
    const file = await readFile(body.download_url as string);
    if (!file && tries < 10) continue; // the sender was killed: a client that knows the length notices
    expect(file?.length).toBe(body.bytes_exported);
    const bytes = file as Buffer;
    const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString();
    const [header = '', ...lines] = text.trimEnd().split('\n');
    expect(lines.length).toBe(body.rows_exported);
    return codesByPiece(header.split(','), lines);
  }
}

async function readFile(url: string): Promise<Buffer | undefined> {
  try {
    const answer = await fetch(url);
    return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : undefined;
  } catch {
    return undefined;
  }
}

function codesByPiece(header: string[], lines: string[]): Map<number, Set<string>> {
  const [codeAt, pieceAt] = [header.indexOf('code'), header.indexOf('piece')];
  const found = new Map<number, Set<string>>();
  for (const line of lines) {
    const cells = line.split(',');
    const piece = Number(cells[pieceAt]);
    const codes = found.get(piece) ?? new Set();
    codes.add(cells[codeAt] as string);
    found.set(piece, codes);
  }
  const distinct = [...found.values()].reduce((sum, { size }) => sum + size, 0);
  if (distinct !== lines.length) throw new Error(`${lines.length - distinct} of ${lines.length} rows are there twice.`);
  return found;
}

// The tables hold what the imports report: all rows of a loaded file, once, and none of any other.
async function expectTruth(account: Account, counts: Counts): Promise<void> {
  const reported = { keyed: [] as number[], loose: [] as number[] };
  for (const { piece, id } of account.imports) {
    const { status, import_tables } = await ended<Import>(account, `/imports/${id}`);
    counts[status === 'completed' ? 'completed' : status === 'cancelled' ? 'cancelled' : 'failed'] += 1;
    for (const table of import_tables) {
      const name = table.table_definition_id === account.keyed.id ? 'keyed' : 'loose';
      if (table.status === 'completed') {
        expect(table.metrics).toMatchObject({ inserted: rowsPerFile, rejected: 0 });
        reported[name].push(piece);
      } else if (table.status === 'failed') expect(table.errors.join()).not.toBe('');
      else expect(table.status).toBe('cancelled');
    }
  }
  for (const id of account.exports) {
    const { status, error, download_url } = await ended<Export>(account, `/exports/${id}`);
    counts[status as keyof Counts] += 1;
    expect(download_url !== null).toBe(status === 'completed');
    expect((error ?? '') !== '').toBe(status === 'failed');
  }
  for (const name of ['keyed', 'loose'] as const) {
    const wish = { branch_id: account[name].branchId, table_definition_key: account[name].key, pattern: 'full' };
    const { id } = (await ask<Export>(account, [201], 'POST', '/exports', wish, keyOf(`all-${name}`, 0))).body;
    const there = await download(account, await ended<Export>(account, `/exports/${id}`));
    expect([...there.keys()].toSorted((a, b) => a - b)).toEqual(reported[name].toSorted((a, b) => a - b));
    for (const codes of there.values()) expect(codes.size).toBe(rowsPerFile);
  }
}
