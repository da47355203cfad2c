// Many connections write through two instances while the policy of the table changes: when it is
// acknowledged, the rows stand still until it is lifted, and no acknowledged write is lost.
import { eventually } from '@almanac/testkit/eventually';
import { load } from '../files.ts';
import { type DataNet, deploy, givenData, setPolicy } from '../given.ts';

const writersEach = 12;
const rounds = 6;
const table = 10;
const path = '/api/v1/table_data';
const named = { table_definition_id: table };

let nets: [DataNet, DataNet];

beforeAll(async () => {
  const first = await givenData();
  nets = [first, await givenData({ database: first.database, keys: first.keys })];
  await deploy(first, [
    {
      id: table,
      columns: [
        { name: 'code', length: 20, is_primary_key: true },
        { name: 'n', data_type: 'integer' },
      ],
    },
  ]);
});

afterAll(async () => {
  await nets[1].stop();
  await nets[0].stop();
});

type Answer = { status: number; body: { problems?: { code: string }[] } };

/** Acknowledged and refused writes so far, and those acknowledged although they began too late. */
const counts = { done: 0, refused: 0, late: 0 };
let inForce = false;
let isOver = false;

// Every kind of write, one after the other, of rows that the writer alone has.
async function write(net: DataNet, writer: string): Promise<void> {
  for (let n = 1; !isOver; n += 1) {
    const code = `${writer}-${n}`;
    const writes: [versions: number, () => Promise<Answer>][] = [
      [1, () => net.call('POST', path, { ...named, record: { code, n } })],
      [1, () => net.call('PUT', `${path}/by_key`, { ...named, record: { code, n: -n } })],
      [1, () => net.call('POST', path, { ...named, record: { code: `${code}k` } }, { 'idempotency-key': code })],
      [
        2,
        () =>
          net.call('POST', `${path}/batch`, {
            ...named,
            operations: [
              { operation: 'create', record: { code: `${code}b` } },
              { operation: 'create', record: { code: `${code}c` } },
            ],
          }),
      ],
      [1, () => net.call('DELETE', `${path}/by_key?table_definition_id=${table}&key[code]=${code}`)],
    ];
    for (const [versions, send] of writes) {
      const beganLate = inForce;
      const answer = await send();
      if (answer.status < 300) {
        counts.done += versions;
        if (beganLate && inForce) counts.late += 1;
      } else if (answer.body?.problems?.[0]?.code === 'proposals_only') counts.refused += 1;
      // An earlier write of this row was refused, or the table was locked too long.
      else if (answer.status !== 404 && answer.status !== 503)
        throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    }
  }
}

async function loadFiles(net: DataNet): Promise<void> {
  const person = { accountId: 1, userId: 21, scopes: ['api'], branching: true };
  for (let n = 1; !isOver; n += 1) {
    const beganLate = inForce;
    try {
      const { inserted } = await load(net, table, `load-${n},1\n`, { file_columns: ['code', 'n'] }, person);
      counts.done += Number(inserted);
      if (beganLate && inForce) counts.late += 1;
    } catch (error) {
      if ((error as { problems?: { code: string }[] }).problems?.[0]?.code !== 'proposals_only') throw error;
      counts.refused += 1;
    }
  }
}

const versions = async () =>
  (
    await nets[0].query(
      `select (select count(*) from b_1.t_${table})::int as rows, (select sum(svc_version) from b_1.t_${table})::int as versions`,
    )
  )[0] as { rows: number; versions: number };

it('no write commits after the policy is acknowledged, on either instance', async () => {
  for (const net of nets)
    net.rights.set(21, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }],
    });
  const working = Promise.all([
    ...nets.flatMap((net, i) => Array.from({ length: writersEach }, (_, n) => write(net, `w${i}.${n}`))),
    loadFiles(nets[1]),
  ]);
  const all = nets.length * writersEach;
  const more = async (count: 'done' | 'refused') => {
    const from = counts[count];
    await Promise.race([eventually(() => expect(counts[count]).toBeGreaterThan(from + all * 3)), working]);
  };
  for (let round = 1; round <= rounds; round += 1) {
    await more('done');
    await setPolicy(nets[round % 2] as DataNet, table, 'request');
    inForce = true;
    const still = await versions();
    await more('refused');
    expect(await versions()).toEqual(still);
    inForce = false;
    await setPolicy(nets[0], table, 'direct');
  }
  isOver = true;
  await working;
  expect(counts.late).toBe(0);
  expect((await versions()).versions).toBe(counts.done);
}, 600_000);
