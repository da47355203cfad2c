// The cost of one body: costly variants of the body of every operation, up to the greatest size,
// and the CPU time that all processes spend on each. Prints the worst ten. Fails beyond what noise
// explains. BODIES: the number for each operation (3), or `all`; BODIES_SEED repeats a run;
// BODIES_OF: only operations and variants whose name matches.

import { randomOf } from '@almanac/testkit/random';
import { type Column, givenDeployedTable } from '@almanac/testkit/system/builders';
import { givenLocalSystem, type LocalSystem, readProcesses } from '@almanac/testkit/system/system';
import { cpuBetween, readCpu } from '../../support/process-costs.ts';
import { type Answer, exchange, request } from '../hostile/wire.ts';
import { readOperations } from '../isolation/operations.ts';
import { givenTwins, type Owned, type Twin } from '../isolation/twins.ts';
import { type Variant, variantsOf } from './variants.ts';

const seed = Number(process.env.BODIES_SEED ?? Date.now() % 1_000_000);
const each = process.env.BODIES ?? '3';
const only = new RegExp(process.env.BODIES_OF ?? '');
const random = randomOf(seed);

const mostBytes = 1_048_576;
/** The limit of operations that take smaller bodies. */
const fewerBytes = 262_144;
/** CPU time; the costliest valid body of this size takes a third of it. */
const mostMilliseconds = 2_000;
const tries = 3;
const mostErrorBytes = 65_536;

type Cost = { call: string; bytes: number; milliseconds: number; status: number };

let system: LocalSystem;
let twin: Twin;
let owned: Owned;

/** One column for each data type whose values are read differently. */
const columns: Column[] = [
  { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
  { name: 'name', data_type: 'string', length: 100 },
  { name: 'note', data_type: 'text' },
  { name: 'whole', data_type: 'bigint' },
  { name: 'amount', data_type: 'decimal' },
  { name: 'share', data_type: 'double' },
  { name: 'since', data_type: 'datetime' },
  { name: 'document', data_type: 'json' },
];

beforeAll(async () => {
  console.log(`BODIES_SEED=${seed} BODIES=${each}`);
  system = await givenLocalSystem();
  [twin] = await givenTwins();
  owned = { ...twin.owned, ...(await givenRow(twin)) };
}, 300_000);
afterAll(() => system?.stop());

async function givenRow({ user }: Twin): Promise<Partial<Owned>> {
  const { id, key } = await givenDeployedTable(user, { columns });
  const { record } = await user.post('/table_data', { table_definition_id: id, record: { code: 'A' } });
  return { 'table definition': id, 'table definition key': key, row: record.svc_sk };
}

it('no body costs more than its size explains', async () => {
  const costs: Cost[] = [];
  const faults: string[] = [];
  for (const variant of chosenVariants()) {
    const { cost, answer } = await measure(variant);
    costs.push(cost);
    if (answer.status === 0 || answer.status >= 500) faults.push(`${cost.call} is answered ${answer.status}`);
    if (answer.status >= 400 && answer.body.length > mostErrorBytes)
      faults.push(`${cost.call} is refused with ${answer.body.length} bytes`);
    if (cost.milliseconds > mostMilliseconds) faults.push(`${cost.call} costs ${cost.milliseconds} ms of CPU`);
  }
  console.log(`${costs.length} bodies; the worst of them:\n${tableOf(worstOf(costs))}`);
  expect(faults).toEqual([]);
}, 7_200_000);

function chosenVariants(): Variant[] {
  return readOperations()
    .filter(({ method, body }) => method !== 'GET' && body)
    .flatMap((operation) => {
      const all = variantsOf(operation, owned, columns).filter(({ name }) => only.test(`${operation.name} ${name}`));
      return each === 'all' ? all : sampleOf(all, Number(each));
    });
}

function sampleOf(all: Variant[], count: number): Variant[] {
  const left = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () => left.splice(random(left.length), 1)[0] as Variant);
}

// Takes the least of some tries: other work and garbage collection only add to the cost.
async function measure(variant: Variant): Promise<{ cost: Cost; answer: Answer }> {
  let best = await measureOnce(variant, mostBytes);
  const bytes = best.answer.status === 413 ? fewerBytes : mostBytes;
  if (bytes < mostBytes) best = await measureOnce(variant, bytes);
  for (let tried = 1; tried < tries && best.cost.milliseconds > mostMilliseconds; tried += 1) {
    const next = await measureOnce(variant, bytes);
    if (next.cost.milliseconds < best.cost.milliseconds) best = next;
  }
  return best;
}

async function measureOnce({ operation, name, path, make }: Variant, most: number) {
  const body = Buffer.from(make(most));
  const bytes = request(operation.method, path, { token: twin.user.token, body });
  const pids = Object.values(readProcesses(system.home));
  const before = readCpu(pids);
  const answer = await exchange(bytes);
  const milliseconds = cpuBetween(before, readCpu(pids));
  const call = `${operation.name} ${name}`;
  return { cost: { call, bytes: body.length, milliseconds, status: answer.status }, answer };
}

const perByte = ({ milliseconds, bytes }: Cost) => (milliseconds * 1_000_000) / bytes;
const worstOf = (costs: Cost[]) => costs.toSorted((a, b) => perByte(b) - perByte(a)).slice(0, 10);

function tableOf(costs: Cost[]): string {
  const head = ['bytes', 'CPU ms', 'ns/byte', 'status'];
  const lines = costs.map((cost) => [cost.bytes, cost.milliseconds, Math.round(perByte(cost)), cost.status]);
  const names = ['call', ...costs.map(({ call }) => call)];
  return [head, ...lines]
    .map((cells, place) => `${cells.map((cell) => String(cell).padStart(9)).join('')}  ${names[place]}`)
    .join('\n');
}
