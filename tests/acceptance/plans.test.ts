// What an account's plan and state allow: calls up to the allowance, files up to the storage, reads
// while payment is overdue, branching or none.
import type { Answer, Api } from '@almanac/api-client/api';
import { refusalFault } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { givenAccount, givenDeployedTable, mainBranchId, unique } from '@almanac/testkit/system/builders';
import { admin, runAdmin } from '@almanac/testkit/system/system';

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** Repeats a call until it has this status: an operator's change reaches gateways by an event. */
async function until(ask: () => Promise<Answer>, status: number): Promise<Answer> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (answer.status === status || Date.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('the allowance', () => {
  it('lets exactly as many calls pass as the plan allows, then answers 429', async () => {
    const allowance = 60;
    const account = await givenAccount({ plan: 'free', allowance });
    const api = await account.machine();
    const answers: Answer[] = [];
    for (let call = 0; call < allowance + 5; call += 5)
      answers.push(...(await Promise.all(Array.from({ length: 5 }, () => api.send('GET', '/domains')))));
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect(passed).toHaveLength(allowance);
    expect(refused).toHaveLength(5);
    expect(refusalFault(refused[0]?.body)).toBeUndefined();
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(passed[0]?.headers.get('x-allowance-limit')).toBe(String(allowance));
    const remaining = answers.map(({ headers }) => Number(headers.get('x-allowance-remaining')));
    expect(Math.min(...remaining)).toBe(0);
  });

  it('continues beyond the allowance where overage is on', async () => {
    const account = await givenAccount({ plan: 'free', allowance: 10 });
    await admin(['accounts', 'update', String(account.id), '--overage', 'on']);
    const api = await account.machine();
    for (let call = 0; call < 15; call++) expect((await api.send('GET', '/domains')).status).toBe(200);
  });

  it('opens again when an operator raises it', async () => {
    const account = await givenAccount({ plan: 'free', allowance: 3 });
    const api = await account.machine();
    expect((await until(() => api.send('GET', '/domains'), 429)).status).toBe(429);
    await admin(['accounts', 'update', String(account.id), '--allowance', '50']);
    expect((await until(() => api.send('GET', '/domains'), 200)).status).toBe(200);
  });

  it('gives a free account 1,000 calls a month', async () => {
    const account = await givenAccount({ plan: 'free' });
    const { plan, usage } = await (await account.machine()).get('/account');
    expect(plan).toBe('free');
    expect(usage.allowance).toBe(1_000);
  });
});

describe('the storage', () => {
  it('refuses uploads and exports beyond what an operator allows, and accepts them again when there is more', async () => {
    const account = await givenAccount();
    const api = await account.person();
    const { key: table_definition_key, branchId: branch_id } = await givenDeployedTable(api);
    const { id } = await api.post<{ id: number }>('/imports', { branch_id });
    const allow = (bytes: number) =>
      admin(['accounts', 'update', String(account.id), '--storage-bytes', String(bytes)]);
    const sizes = { table_definition_key, pattern: 'incremental', file_size: 1_000 };
    const upload = () => api.send('POST', `/imports/${id}/tables`, sizes);
    const exported = () => api.send('POST', '/exports', { branch_id, table_definition_key, pattern: 'full' });
    // An upload from before the gateways knew the limit is taken back, so that the storage is empty
    // when they know it.
    const isFull = async () => {
      const tried = await api.post<{ id: number }>('/imports', { branch_id });
      const { status } = await api.send('POST', `/imports/${tried.id}/tables`, sizes);
      await api.post(`/imports/${tried.id}/cancel`);
      expect(status).toBe(422);
    };
    await allow(0);
    await eventually(isFull);
    const none = 'The files of the account take 0 bytes of the 0 bytes that its plan allows, and nothing more fits';
    expect((await exported()).body).toMatchObject({ errors: [expect.stringContaining(none)] });
    await allow(999);
    await eventually(async () => {
      const refused = await api.send('POST', `/imports/${id}/tables`, sizes);
      expect(refused.status).toBe(422);
      expect(refused.body).toMatchObject({ errors: [expect.stringContaining('1000 bytes more do not fit')] });
    });
    await allow(1_000);
    expect((await until(upload, 201)).status).toBe(201);
    expect((await exported()).status).toBe(422);
    await api.post(`/imports/${id}/cancel`);
    expect((await exported()).status).toBe(201);
  });
});

describe('an overdue account', () => {
  it('reads but does not write once it is overdue for more than 7 days', async () => {
    const account = await givenAccount();
    const api = await account.person();
    const table = await givenDeployedTable(api);
    await admin([
      'accounts',
      'update',
      String(account.id),
      '--billing-status',
      'overdue',
      '--overdue-since',
      daysAgo(8),
    ]);
    const write = () => api.send('POST', '/domains', { domain: { name: `Too late ${unique()}` } });
    const refused = await until(write, 402);
    expect(refused).toMatchObject({ status: 402, body: { error: expect.any(String), errors: expect.any(Array) } });
    expect((await api.send('PATCH', `/domains/${table.domainId}`, { domain: { description: 'x' } })).status).toBe(402);
    expect((await api.send('DELETE', `/domains/${table.domainId}`)).status).toBe(402);
    expect((await api.send('GET', `/domains/${table.domainId}`)).status).toBe(200);
    expect((await api.send('GET', '/account')).body).toMatchObject({ billing_status: 'overdue' });
    await admin(['accounts', 'update', String(account.id), '--billing-status', 'current']);
    expect((await until(write, 201)).status).toBe(201);
  });

  it('still writes within the 7 days', async () => {
    const account = await givenAccount();
    const api = await account.person();
    await admin([
      'accounts',
      'update',
      String(account.id),
      '--billing-status',
      'overdue',
      '--overdue-since',
      daysAgo(6),
    ]);
    const isOverdue = () => api.send<{ billing_status: string }>('GET', '/account');
    await eventually(async () => expect((await isOverdue()).body.billing_status).toBe('overdue'));
    expect((await api.send('POST', '/domains', { domain: { name: 'In time' } })).status).toBe(201);
  });
});

describe('a plan without branching', () => {
  let api: Api;

  beforeAll(async () => {
    api = await (await givenAccount({ plan: 'plus' })).person();
  });

  it('lists branches but refuses what needs branching', async () => {
    const branchId = await mainBranchId(api);
    const answers = [
      await api.send('GET', '/deployments'),
      await api.send('POST', '/deployments', { branch_id: branchId, table_definition_ids: [1] }),
      await api.send('POST', '/branches', { branch: { name: 'feature' } }),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 403,
        body: { errors: [expect.stringContaining('Branching is not enabled on the current plan')] },
      });
  });

  it('deploys a definition directly and serves its rows', async () => {
    const table = await givenDeployedTable(api, { withoutBranching: true });
    const made = await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A', name: 'first' } });
    expect(made.record).toMatchObject({ code: 'A', name: 'first' });
  });

  it('is the other way round with branching: deployments only', async () => {
    const business = await (await givenAccount({ plan: 'business' })).person();
    const table = await givenDeployedTable(business);
    expect((await business.send('POST', `/table_definitions/${table.id}/deploy`)).status).toBe(403);
  });
});

describe("the operators' command line", () => {
  it('lists accounts, and says what is wrong with a command', async () => {
    const account = await givenAccount({ plan: 'enterprise' });
    const list = await admin<{ id: number; plan: string }[]>(['accounts', 'list']);
    expect(list).toContainEqual(expect.objectContaining({ id: account.id, plan: 'enterprise' }));
    const wrong = await runAdmin([
      'accounts',
      'create',
      '--name',
      'X',
      '--plan',
      'gold',
      '--admin-email',
      'x@example.com',
    ]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--plan should be one of') });
    const unknown = await runAdmin(['accounts', 'update', '1999999999', '--plan', 'free']);
    expect(unknown.code).toBe(1);
    expect((await runAdmin(['--help'])).stdout).toContain('accounts create');
  });

  it('rotates the signing key while tokens of the old one stay valid', async () => {
    const account = await givenAccount();
    const before = await account.machine();
    const { kid } = await admin<{ kid: string }>(['keys', 'rotate']);
    const after = await account.machine();
    const header = JSON.parse(Buffer.from(after.token.split('.')[0] as string, 'base64url').toString());
    expect(header.kid).toBe(kid);
    expect((await after.send('GET', '/account')).status).toBe(200);
    expect((await before.send('GET', '/account')).status).toBe(200);
  });
});
