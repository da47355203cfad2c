// The storage quota of an account: the size of its files, and what happens at the limit of its
// plan.
import { readdirSync } from 'node:fs';
import { type Call, callHeaders } from '@almanac/testkit/calls/call';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { formatBytes } from '../../src/files/account-storage.ts';
import { sweep } from '../../src/maintenance/sweeper.ts';
import { ended, givenJobs, type Jobs } from '../given.ts';

let jobs: Jobs;
let lastAccount = 100;
const atMost = 1_000;

// Each test has an account of its own, with a table of four rows.
function givenAccount(storageBytes = atMost): { accountId: number; call: Call; branch_id: number } {
  lastAccount += 1;
  const accountId = lastAccount;
  const branch_id = accountId * 10;
  jobs.neighbours.branches.push({ account_id: accountId, id: branch_id });
  const rows = new Map(['A', 'B', 'C', 'D'].map((code) => [code, { code, name: code.repeat(150) }]));
  jobs.neighbours.addTable({ account_id: accountId, key: 'countries', branch_id, rows });
  return { accountId, branch_id, call: jobs.as({ accountId, storageBytes }) };
}
type Account = ReturnType<typeof givenAccount>;

beforeAll(async () => {
  jobs = await givenJobs();
});
afterAll(() => jobs.close());

const used = async ({ accountId }: Account) => {
  const noted = await jobs.context.prisma.stored_object.findMany({ where: { account_id: accountId } });
  return noted.reduce((sum, { bytes }) => sum + Number(bytes), 0);
};

const openImport = async ({ call, branch_id }: Account): Promise<number> =>
  (await call('POST', '/api/v1/imports', { branch_id })).body.id;

const addTable = async (account: Account, file_size?: number, id?: number) => {
  id ??= await openImport(account);
  const table = { table_definition_key: 'countries', pattern: 'incremental', ...(file_size ? { file_size } : {}) };
  const { status, body } = await account.call('POST', `/api/v1/imports/${id}/tables`, table);
  return { id, status, body };
};

const put = async (url: string, bytes: number | ReadableStream) => {
  const body = typeof bytes === 'number' ? new Uint8Array(bytes).fill(97) : bytes;
  const answer = await fetch(url, { method: 'PUT', body: body as never, duplex: 'half' } as RequestInit);
  return { status: answer.status, text: await answer.text() };
};

const startExport = ({ call, branch_id }: Account) =>
  call('POST', '/api/v1/exports', { branch_id, table_definition_key: 'countries', pattern: 'full' });

const filesOf = ({ accountId }: Account) =>
  readdirSync(jobs.folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.parentPath.includes(`/accounts/${accountId}/`),
  );

describe('an account at its limit', () => {
  it('gets no more upload URLs and no more exports, with the reason and advice', async () => {
    const account = givenAccount();
    const first = await addTable(account, atMost);
    expect(first.status).toBe(201);
    const sentence =
      'The files of the account take 1000 bytes of the 1000 bytes that its plan allows, and nothing more fits. ' +
      'Cancel imports or exports that have not ended, or ask for a larger plan.';
    for (const refused of [await addTable(account), await addTable(account, 1), await startExport(account)])
      expect([refused.status, refused.body]).toEqual([
        422,
        refusal('Validation failed', 'limit_reached', sentence, { params: { maximum: 1000, used: 1000 } }),
      ]);
    expect((await account.call('GET', '/api/v1/exports')).body.data).toEqual([]);
  });

  it('may not declare a file larger than its free storage', async () => {
    const account = givenAccount();
    expect((await addTable(account, 700)).status).toBe(201);
    const refused = await addTable(account, 301);
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual([expect.stringContaining('and 301 bytes more do not fit')]);
    expect((await addTable(account, 300)).status).toBe(201);
    expect(await used(account)).toBe(atMost);
  });

  it('reports the day after which the next older file expires', async () => {
    const account = givenAccount();
    const { body } = await startExport(account);
    await ended(jobs, `/exports/${body.id}`, account.call);
    const { expires_at: at } = await jobs.context.prisma.stored_object.findFirstOrThrow({
      where: { account_id: account.accountId },
    });
    const refused = await addTable(account, atMost);
    expect(refused.body.errors[0]).toContain(`wait until ${at.toISOString().slice(0, 10)}, after which`);
  });

  it('cannot upload more bytes, declared or not, and none of them are kept', async () => {
    const account = givenAccount();
    const { body, id } = await addTable(account);
    const path = `/api/v1/imports/${id}/tables/${body.id}/file`;
    const send = async (bytes: number | ReadableStream) => {
      const claims = { accountId: account.accountId, storageBytes: atMost };
      const init = {
        method: 'PUT',
        body: typeof bytes === 'number' ? new Uint8Array(bytes) : bytes,
        headers: await callHeaders(jobs.keys, claims),
        duplex: 'half',
      };
      const answer = await fetch(new URL(path, jobs.url), init as RequestInit);
      return { status: answer.status, text: await answer.text() };
    };
    for (const way of [(bytes: number | ReadableStream) => put(body.upload_url, bytes), send])
      for (const bytes of [atMost + 1, chunks(atMost + 1)]) {
        const refused = await way(bytes);
        expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('that its plan allows')]);
        expect([await used(account), filesOf(account)]).toEqual([0, []]);
      }
    expect((await put(body.upload_url, chunks(600))).status).toBe(200);
    expect(await used(account)).toBe(600);
    expect((await put(body.upload_url, atMost)).status).toBe(200); // instead of the one before
    expect(await used(account)).toBe(atMost);
  });

  it('may send the declared file through the API, and another one instead', async () => {
    const account = givenAccount();
    const { body, id } = await addTable(account, 500);
    const sender = jobs.as({ accountId: account.accountId, storageBytes: atMost });
    for (const text of ['x'.repeat(498), 'y'.repeat(498)]) {
      // As JSON: two quotes more.
      const sent = await sender('PUT', `/api/v1/imports/${id}/tables/${body.id}/file`, text);
      expect([sent.status, await used(account), filesOf(account).length]).toEqual([200, 500, 1]);
    }
  });
});

describe('upload_complete', () => {
  // As with an object store that accepts files directly.
  const putDirectly = async (account: Account, bytes: number) => {
    const { store, prisma } = jobs.context;
    const made = await addTable(account);
    const { object_key } = await prisma.import_table.findFirstOrThrow({ where: { id: made.body.id } });
    const source = async function* () {
      yield Buffer.from(`code,name\n${'x'.repeat(bytes - 10)}`);
    };
    await store.put(object_key, source(), { maxBytes: bytes });
    return { ...made, object_key };
  };
  const complete = ({ call }: Account, id: number) => call('POST', `/api/v1/imports/${id}/upload_complete`);

  it('refuses a file that does not fit and removes it; a smaller one is accepted', async () => {
    const account = givenAccount();
    const { id, body, object_key } = await putDirectly(account, atMost + 1);
    const refused = await complete(account, id);
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      [
        expect.stringMatching(
          /^The file of table countries \(1001 bytes\) was removed\. The files of the account take 0 /,
        ),
      ],
    ]);
    expect(await jobs.context.store.stat(object_key)).toBeUndefined();
    expect((await put(body.upload_url, 20)).status).toBe(200);
    expect((await complete(account, id)).status).toBe(200);
    expect(await used(account)).toBe(20);
    await ended(jobs, `/imports/${id}`, account.call);
  });

  it('counts files sent directly to the store; so does the sweep before it', async () => {
    const account = givenAccount();
    const { id } = await putDirectly(account, 400);
    expect(await used(account)).toBe(0);
    await sweep(jobs.context);
    expect(await used(account)).toBe(400);
    expect((await complete(account, id)).status).toBe(200);
    await ended(jobs, `/imports/${id}`, account.call);
    expect(await used(account)).toBe(400);
  });
});

describe('concurrent calls', () => {
  it('never reserve more in total than the limit', async () => {
    const account = givenAccount();
    const ids = await Promise.all(Array.from({ length: 10 }, () => openImport(account)));
    const answers = await Promise.all(ids.map((id) => addTable(account, 300, id)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(7);
    expect(await used(account)).toBe(900);
  });

  it('never upload more in total than the limit, through any instance', async () => {
    const account = givenAccount();
    const made = [];
    for (let i = 0; i < 8; i += 1) made.push((await addTable(account)).body.upload_url as string);
    const other = await jobs.another();
    try {
      const urls = made.map((url, i) => (i % 2 ? url.replace(new URL(url).origin, other.url) : url));
      const answers = await Promise.all(urls.map((url, i) => put(url, i % 3 ? 300 : chunks(300))));
      const taken = answers.filter(({ status }) => status === 200).length;
      // Bytes reserved ahead for a file of unknown size may be missing to another file for a
      // moment, so fewer may succeed.
      expect(taken).toBeGreaterThanOrEqual(1);
      expect(taken).toBeLessThanOrEqual(3);
      expect(await used(account)).toBe(300 * taken);
    } finally {
      await other.stop();
    }
  });
});

describe('an export', () => {
  it('that outgrows the limit while it is written fails with a reason and leaves no object', async () => {
    const account = givenAccount(400);
    const { status, body } = await startExport(account);
    expect(status).toBe(201);
    const done = await ended(jobs, `/exports/${body.id}`, account.call);
    expect(done).toMatchObject({ status: 'failed', download_url: null });
    expect(done.error).toMatch(/^The files of the account take .* of the 400 bytes that its plan allows, /);
    expect([await used(account), filesOf(account)]).toEqual([0, []]);
    expect((await startExport(account)).status).toBe(201); // nothing of it counts any more
  });

  it('counts with its size until it is removed', async () => {
    const account = givenAccount();
    const { body } = await startExport(account);
    const done = await ended(jobs, `/exports/${body.id}`, account.call);
    expect(await used(account)).toBe(done.bytes_exported);
    const refused = await addTable(account, atMost);
    expect(refused.status).toBe(422);
    await jobs.context.prisma.stored_object.updateMany({
      where: { account_id: account.accountId },
      data: { expires_at: new Date(0) },
    });
    await sweep(jobs.context);
    expect([await used(account), filesOf(account)]).toEqual([0, []]);
    expect((await addTable(account, atMost)).status).toBe(201);
  });
});

describe('rejected rows', () => {
  it('that do not fit are not stored; the import says so and ends as usual', async () => {
    const account = givenAccount(60);
    const file = 'code,name\nR1,BAD\nR2,BAD\nR3,x\nR4,x\n';
    const id = await openImport(account);
    const table = { table_definition_key: 'countries', pattern: 'incremental', on_error: 'reject_rows' };
    const { body } = await account.call('POST', `/api/v1/imports/${id}/tables`, table);
    expect((await fetch(body.upload_url, { method: 'PUT', body: file })).status).toBe(200);
    await account.call('POST', `/api/v1/imports/${id}/upload_complete`);
    const done = await ended(jobs, `/imports/${id}`, account.call);
    expect(done.import_tables[0]).toMatchObject({ status: 'completed_with_errors', metrics: { rejected: 2 } });
    expect(done.import_tables[0].errors).toEqual([
      expect.stringMatching(/^The file of rejected rows could not be kept\. The files of the account take /),
    ]);
    expect(await used(account)).toBe(file.length);
  });
});

describe('rows on their way into a table', () => {
  it('may use the free storage, and the bytes of their file', async () => {
    const account = givenAccount();
    const other = await addTable(account, 300);
    const { id, body } = await addTable(account);
    const file = 'code,name\nR1,x\n';
    expect((await fetch(body.upload_url, { method: 'PUT', body: file })).status).toBe(200);
    await account.call('POST', `/api/v1/imports/${id}/upload_complete`);
    await ended(jobs, `/imports/${id}`, account.call);
    const load = jobs.neighbours.loads.find(({ account_id }) => account_id === account.accountId);
    expect([other.status, load?.options.most_bytes]).toEqual([201, atMost - 300]);
  });
});

describe('what is released', () => {
  it('by cancelling an import is free at once', async () => {
    const account = givenAccount();
    const declared = await addTable(account, 500);
    const sent = await addTable(account);
    expect((await put(sent.body.upload_url, 500)).status).toBe(200);
    expect(await used(account)).toBe(atMost);
    for (const { id } of [declared, sent]) await account.call('POST', `/api/v1/imports/${id}/cancel`);
    expect([await used(account), filesOf(account)]).toEqual([0, []]);
    expect((await addTable(account, atMost)).status).toBe(201);
  });

  it('by cancelling an export is free when its work has stopped', async () => {
    const account = givenAccount();
    jobs.neighbours.hold();
    const { body } = await startExport(account);
    await eventually(async () => expect(await used(account)).toBeGreaterThan(0));
    await account.call('POST', `/api/v1/exports/${body.id}/cancel`);
    jobs.neighbours.release();
    await eventually(async () => expect(await used(account)).toBe(0), { withinMs: 20_000 });
  });

  it('includes what an earlier run of an export wrote', async () => {
    const account = givenAccount();
    const { prisma } = jobs.context;
    jobs.neighbours.hold();
    const { body } = await startExport(account);
    const key = `accounts/${account.accountId}/exports/${body.id}-${'0'.repeat(32)}`;
    const noted = { key, account_id: account.accountId, bytes: 300, expires_at: new Date(Date.now() + 86_400_000) };
    jobs.neighbours.release();
    await ended(jobs, `/exports/${body.id}`, account.call);
    await prisma.stored_object.create({ data: noted });
    await prisma.data_export.update({ where: { id: body.id }, data: { status: 'failed' } });
    await prisma.job.updateMany({ where: { kind: 'export', subject_id: body.id }, data: { state: 'failed' } });
    await jobs.retry(`export-${body.id}`);
    const done = await ended(jobs, `/exports/${body.id}`, account.call);
    expect(await used(account)).toBe(done.bytes_exported);
  });
});

describe('the limit', () => {
  it('of one account does not affect another', async () => {
    const [full, other] = [givenAccount(), givenAccount()];
    expect((await addTable(full, atMost)).status).toBe(201);
    expect((await startExport(full)).status).toBe(422);
    expect((await addTable(other, atMost)).status).toBe(201);
  });

  it('is the last one received, where a call brings none', async () => {
    const account = givenAccount();
    const silent = { ...account, call: jobs.as({ accountId: account.accountId }) };
    expect((await addTable(silent, 2 * atMost)).status).toBe(201); // no limit was received
    expect((await addTable(account, 1)).status).toBe(422);
    expect((await addTable(silent, 1)).status).toBe(422);
    const larger = { ...account, call: jobs.as({ accountId: account.accountId, storageBytes: 5 * 1024 ** 4 }) };
    expect((await addTable(larger, 1)).status).toBe(201);
    expect((await addTable(silent, 1)).status).toBe(201);
  });

  it('is written as text for people', () => {
    const GB = 1024 ** 3;
    expect([0, 1, 1023, 1024, 1.5 * 1024 ** 2, 100 * GB, 100 * GB - 1, 5 * 1024 * GB].map(formatBytes)).toEqual([
      '0 bytes',
      '1 byte',
      '1023 bytes',
      '1 KB',
      '1.5 MB',
      '100 GB',
      '99.99 GB',
      '5 TB',
    ]);
  });
});

function chunks(bytes: number): ReadableStream {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left === 0) return controller.close();
      const length = Math.min(left, 100);
      left -= length;
      controller.enqueue(new Uint8Array(length).fill(97));
    },
  });
}
