// Deployments when a process is killed or unavailable in the middle: they end deployed or failed,
// exactly once, and the same request again gets the same answer.
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@almanac/service-kit/errors';
import { type Call, createCaller } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { createMetadata } from '../../../src/service.ts';
import {
  type Account,
  type Api,
  callingAs,
  givenAccount,
  givenAdmin,
  givenTable,
  type Metadata,
  startMetadata,
} from '../../given.ts';

let metadata: Metadata;
let account: Account;
let admin: Api & { id: number };

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  account = await givenAccount(metadata);
  admin = givenAdmin(metadata, account.id);
});
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  metadata.neighbours.data.before = {};
  metadata.neighbours.data.after = {};
});

const away = () => {
  throw new ServiceError('unavailable', 'data is away');
};

async function proposed(): Promise<{ id: number; tableId: number }> {
  const table = await givenTable(account, 'Codes');
  const body = { branch_id: account.mainId, table_definition_ids: [table.id] };
  return { id: (await admin.post('/deployments', body)).id, tableId: table.id };
}

const deploy = (id: number) => admin.send('POST', `/deployments/${id}/deploy`);
const applied = (id: number) =>
  metadata.neighbours.data.applications.filter((name) => name.startsWith(`metadata-${id}-`));

async function outcome(id: number): Promise<{ status: string; was_resumed: boolean }> {
  const { rows } = await metadata.pool.query('select status, was_resumed from deployment where id = $1', [id]);
  return rows[0];
}

// The state after a process was killed right after it began the attempt: the lease has run out.
async function leaveBehind(id: number): Promise<void> {
  const { rows } = await metadata.pool.query('select status from deployment where id = $1', [id]);
  expect(rows[0].status).toBe('deploying');
  await metadata.pool.query(`update deployment set lease_until = now() - interval '1 second' where id = $1`, [id]);
}

describe('data', () => {
  it('unavailable before planning: 503, nothing applied, and the deployment can be deployed again', async () => {
    const { id } = await proposed();
    metadata.neighbours.data.before.PlanDeployment = away;
    expect((await deploy(id)).status).toBe(503);
    expect((await admin.send('GET', `/deployments/${id}`)).status).toBe(503);
    metadata.neighbours.data.before = {};
    expect((await admin.get(`/deployments/${id}`)).status).toBe('failed');
    expect((await deploy(id)).status).toBe(200);
    expect(applied(id)).toEqual([`metadata-${id}-2`]);
  });

  it('unavailable before planning: the same request again, with its key, deploys', async () => {
    const { id } = await proposed();
    const again = () => admin.send('POST', `/deployments/${id}/deploy`, {}, { 'idempotency-key': `plan-${id}` });
    metadata.neighbours.data.before.PlanDeployment = away;
    expect((await again()).status).toBe(503);
    metadata.neighbours.data.before = {};
    expect(await again()).toMatchObject({ status: 200, body: { status: 'deployed' } });
    expect((await again()).status).toBe(200);
    expect(applied(id)).toEqual([`metadata-${id}-2`]);
  });

  it('slow to plan: the attempt keeps its lease, and no other process resumes it', async () => {
    const { id } = await proposed();
    const { leaseMs } = metadata.context.timing;
    metadata.neighbours.data.before.PlanDeployment = () => sleep(2 * leaseMs);
    expect((await deploy(id)).status).toBe(200);
    expect(await outcome(id)).toEqual({ status: 'deployed', was_resumed: false });
    expect(applied(id)).toEqual([`metadata-${id}-1`]);
  });

  it('unavailable for a plan while another process applies the resumed attempt: its outcome counts', async () => {
    const { id } = await proposed();
    const refused = Promise.withResolvers<void>();
    metadata.neighbours.data.after.ApplyDeployment = () => refused.promise;
    metadata.neighbours.data.before.PlanDeployment = async () => {
      if (applied(id).length === 0) await leaveBehind(id);
      await eventually(() => expect(applied(id)).toHaveLength(1));
      away();
    };
    expect((await deploy(id)).status).toBe(503);
    refused.resolve();
    await eventually(async () => expect((await outcome(id)).status).not.toBe('deploying'));
    expect(await outcome(id)).toEqual({ status: 'deployed', was_resumed: true });
    expect(applied(id)).toEqual([`metadata-${id}-1`]);
  });

  it('unavailable for a moment while applying: the request waits and is answered 200', async () => {
    const { id } = await proposed();
    let calls = 0;
    metadata.neighbours.data.before.ApplyDeployment = () => {
      calls += 1;
      if (calls < 3) away();
    };
    expect(await deploy(id)).toMatchObject({ status: 200, body: { status: 'deployed' } });
    expect(applied(id)).toEqual([`metadata-${id}-1`]);
  });

  it('without an answer after it has applied: the outcome is looked up and stored once', async () => {
    const { id, tableId } = await proposed();
    metadata.neighbours.data.after.ApplyDeployment = away;
    expect(await deploy(id)).toMatchObject({ status: 200, body: { status: 'deployed' } });
    expect(applied(id)).toEqual([`metadata-${id}-1`]);
    expect((await admin.get(`/table_definitions/${tableId}`)).needs_deployment).toBe(false);
    const { actions } = await admin.get(`/deployments/${id}`);
    expect(actions.filter(({ action }: { action: string }) => action === 'succeed')).toHaveLength(1);
    // Its caller may have got no answer; the same request gets it.
    expect(await deploy(id)).toMatchObject({ status: 200, body: { status: 'deployed' } });
  });

  it('failing each time with an internal error: the deployment fails in the end', async () => {
    const { id } = await proposed();
    metadata.neighbours.data.before.ApplyDeployment = () => {
      throw new Error('a bug in data');
    };
    const first = await deploy(id);
    expect([422, 503]).toContain(first.status);
    await eventually(async () => expect((await admin.get(`/deployments/${id}`)).status).toBe('failed'));
    metadata.neighbours.data.before = {};
    expect((await deploy(id)).status).toBe(200);
  });
});

describe('a killed process', () => {
  // The request hangs inside data as if its process had been killed there; a second process finds
  // the deployment.
  const stages = [
    ['before data has applied anything', 'before'],
    ['after data has applied all of it', 'after'],
  ] as const;

  it.each(stages)('%s leaves nothing half done: the reconciler finishes the deployment', async (_name, stage) => {
    const { id, tableId } = await proposed();
    let release = () => {};
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    let hung = false;
    metadata.neighbours.data[stage].ApplyDeployment = () => {
      if (hung) return undefined;
      hung = true;
      return hanging.then(away);
    };
    const request = deploy(id);
    await eventually(() => expect(hung).toBe(true));
    await leaveBehind(id);
    release();
    expect((await request).body.status).toBe('deployed');
    expect(applied(id)).toEqual([`metadata-${id}-1`]);
    expect((await admin.get(`/deployed_table_definitions/${tableId}`)).version).toBe(2);
    expect((await deploy(id)).status).toBe(200);
  });

  it.each(stages)('by kill -9 %s loses none of its work', async (_name, stage) => {
    const { id, tableId } = await proposed();
    const { child, api } = await startProcess();
    let hung = false;
    metadata.neighbours.data[stage].ApplyDeployment = () => {
      if (hung) return undefined;
      hung = true;
      child.kill('SIGKILL');
      return new Promise((resolve) => child.once('exit', resolve));
    };
    await expect(api('POST', `/api/v1/deployments/${id}/deploy`)).rejects.toThrow();
    await eventually(async () => expect((await admin.get(`/deployments/${id}`)).status).toBe('deployed'));
    expect(applied(id)).toEqual([`metadata-${id}-1`]);
    expect((await admin.get(`/deployed_table_definitions/${tableId}`)).version).toBe(2);
    expect(await deploy(id)).toMatchObject({ status: 200, body: { status: 'deployed' } });
  });

  it('is followed by another one that resumes its work at start', async () => {
    const { id, tableId } = await proposed();
    const table = await metadata.context.prisma.table_definition.findUniqueOrThrow({ where: { id: tableId } });
    const wanted = [{ ...wantedOf(table), columns: [] }];
    await metadata.pool.query(
      `update deployment set status = 'deploying', attempt = 1, deploying_branch_id = branch_id, wanted = $2::jsonb,
         lease_until = now() + interval '300 milliseconds' where id = $1`,
      [id, JSON.stringify(wanted)],
    );
    const other = await createMetadata({ ...metadata.config });
    await other.start();
    try {
      await eventually(async () => expect((await admin.get(`/deployments/${id}`)).status).toBe('deployed'));
    } finally {
      await other.stop();
    }
    expect(applied(id)).toEqual([`metadata-${id}-1`]);
  });

  it('before it stored that a definition was deleted leaves a failed deployment without deployed tables', async () => {
    const { id, tableId } = await proposed();
    await metadata.pool.query(
      `update deployment set status = 'deploying', attempt = 1, deploying_branch_id = branch_id, wanted = '[]', lease_until = now()
       where id = $1`,
      [id],
    );
    await eventually(async () => expect((await admin.get(`/deployments/${id}`)).status).toBe('failed'));
    expect(await admin.get(`/deployments/${id}`)).toMatchObject({
      error: `Table definition ${tableId} (Codes) has been deleted`,
    });
    expect(applied(id)).toEqual([]);
  });
});

describe('concurrently', () => {
  it('the same deployment is applied once, and all requests get the same answer', async () => {
    const { id } = await proposed();
    const answers = await Promise.all([1, 2, 3, 4].map(() => deploy(id)));
    for (const answer of answers) if (answer.status !== 200) expect(answer.body.errors[0]).toContain('is deployed');
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(applied(id)).toEqual([`metadata-${id}-1`]);
  });

  it('two deployments of one branch run one after the other', async () => {
    const one = await givenTable(account, 'One');
    const two = await givenTable(account, 'Two');
    const ids = [];
    for (const table_definition_ids of [[one.id], [one.id, two.id]])
      ids.push((await admin.post('/deployments', { branch_id: account.mainId, table_definition_ids })).id);
    let running = 0;
    let most = 0;
    metadata.neighbours.data.before.ApplyDeployment = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 100));
      running -= 1;
    };
    const answers = await Promise.all(ids.map(deploy));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(most).toBe(1);
  });

  it('a draft changed while it is deployed needs another deployment', async () => {
    const { id, tableId } = await proposed();
    metadata.neighbours.data.before.ApplyDeployment = () =>
      admin.send('PATCH', `/table_definitions/${tableId}`, { description: 'later' });
    expect((await deploy(id)).status).toBe(200);
    expect(await admin.get(`/table_definitions/${tableId}`)).toMatchObject({
      version: 3,
      deployed_version: 2,
      needs_deployment: true,
    });
  });

  it('a table that is being deployed can not be removed, nor its domain deleted', async () => {
    const { id, tableId } = await proposed();
    const statuses: number[] = [];
    metadata.neighbours.data.before.ApplyDeployment = async () => {
      const elsewhere = await account.api.post('/domains', { name: 'Elsewhere' });
      statuses.push((await admin.send('DELETE', `/table_definitions/${tableId}`)).status);
      statuses.push((await admin.send('POST', `/table_definitions/${tableId}/remove`)).status);
      await admin.send('PATCH', `/table_definitions/${tableId}`, { domain_id: elsewhere.id });
      statuses.push((await admin.send('DELETE', `/domains/${account.domainId}`)).status);
    };
    expect((await deploy(id)).status).toBe(200);
    expect(statuses).toEqual([422, 422, 422]);
  });
});

describe('a request that waits too long', () => {
  it('is answered 503 or 422, and its work is finished', async () => {
    const impatient = await startMetadata({ waitMs: 300, leaseMs: 300 });
    try {
      const own = await givenAccount(impatient);
      const user = givenAdmin(impatient, own.id);
      const tables = [await givenTable(own, 'One'), await givenTable(own, 'Two')];
      const ids: number[] = [];
      for (const table of tables) {
        const body = { branch_id: own.mainId, table_definition_ids: [table.id] };
        ids.push((await user.post('/deployments', body)).id);
      }
      impatient.neighbours.data.before.ApplyDeployment = away;
      expect((await user.send('POST', `/deployments/${ids[0]}/deploy`)).status).toBe(503);
      const busy = await user.send('POST', `/deployments/${ids[1]}/deploy`);
      expect(busy.status).toBe(422);
      expect(busy.body.errors[0]).toContain(`Deployment ${ids[0]} is being applied`);
      impatient.neighbours.data.before = {};
      const again = callingAs(impatient, { accountId: own.id, userId: user.id });
      await eventually(async () => {
        const answer = await again.send('POST', `/deployments/${ids[0]}/deploy`);
        expect(answer).toMatchObject({ status: 200, body: { status: 'deployed' } });
      });
      expect((await user.send('POST', `/deployments/${ids[1]}/deploy`)).status).toBe(200);
    } finally {
      await impatient.stop();
    }
  });
});

// Metadata as a process of its own on the same database.
async function startProcess(): Promise<{ child: ChildProcess; api: Call }> {
  const { common, secrets, neighbours } = metadata.config;
  const [http, rpc] = [await findFreePort(), await findFreePort()];
  const child = spawn(process.execPath, [resolve(import.meta.dirname, '../../../src/main.ts')], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      ...metadata.keys.env,
      METADATA_HTTP_PORT: String(http),
      METADATA_RPC_PORT: String(rpc),
      METADATA_DATABASE_URL: secrets.databaseUrl,
      METADATA_LEASE_SECONDS: '1',
      ALMANAC_BUS_URL: common.secrets.busUrl,
      ALMANAC_LOG_LEVEL: 'silent',
      IDENTITY_RPC: neighbours.identity,
      DATA_RPC: neighbours.data,
    },
  });
  children.push(child);
  const baseUrl = `http://127.0.0.1:${http}`;
  await eventually(async () => expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200));
  const claims = { accountId: account.id, userId: admin.id, branching: true, scopes: ['api'] };
  return { child, api: createCaller(baseUrl, metadata.keys, claims) };
}

type Row = Record<string, unknown>;
const wantedOf = ({ id, lineage_id, uuid, key, name, branch_id, domain_id, load_type, version }: Row) => ({
  table_definition_id: id,
  lineage_id,
  uuid,
  key,
  name,
  description: '',
  branch_id,
  domain_id,
  load_type,
  version,
});
