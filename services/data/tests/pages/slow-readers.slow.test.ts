// Clients that request the largest pages and don't read them: no transaction or connection to
// PostgreSQL waits for them, others are served, and they cost no more memory than their pages,
// which are freed with them.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { callHeaders } from '@almanac/testkit/calls/call';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { type DataProcess, startData } from '../process.ts';

const MB = 1024 * 1024;
// More than the connections for rows (10).
const clients = 16;

let database: TestDatabase;
let keys: TestKeys;
let data: DataProcess;
let test: pg.Client;

beforeAll(async () => {
  [database, keys] = await Promise.all([createTestDatabase('data'), createTestKeys()]);
  data = await startData(database.url, keys);
  const columns = [
    { name: 'n', data_type: 'integer', is_primary_key: true },
    { name: 'text', data_type: 'text' },
  ];
  await data.apply('slow', [{ id: 1, columns }]);
  test = new pg.Client({ connectionString: database.url });
  await test.connect();
  await test.query(
    `insert into b_1.t_1 (svc_created_at, svc_updated_at, c_1001, c_1002) select now(), now(), n, repeat('slow ', 800) from generate_series(1, 1000) n`,
  );
});

afterAll(async () => {
  await test.end();
  await data.end();
  await database.drop();
});

const page = { table_definition_id: 1, startRow: 0, endRow: 1000 };

/** Requests a page, reads its first bytes and stops. */
async function askSlowly(): Promise<Socket> {
  const body = JSON.stringify(page);
  const headers = Object.entries({
    ...(await callHeaders(keys)),
    host: 'data',
    'content-type': 'application/json',
    'content-length': String(body.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(data.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`POST /api/v1/table_data/grid HTTP/1.1\r\n${headers.join('')}\r\n${body}`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  return socket;
}

const residentMb = () => {
  const pages = Number(readFileSync(`/proc/${data.child.pid}/statm`, 'utf8').split(' ')[1]);
  return (pages * 4096) / MB;
};

const busy = async () => {
  const { rows } = await test.query(
    `select state, query from pg_stat_activity where datname = current_database() and application_name like 'almanac-data%' and state <> 'idle'
     and query like '%b_1.t_1%'`,
  );
  return rows;
};

it('hold no memory but their pages, wave after wave', async () => {
  const whole = await data.call('POST', '/api/v1/table_data/grid', page);
  const pageMb = JSON.stringify(whole.body).length / MB;
  expect(pageMb).toBeGreaterThan(3);
  const peaks: number[] = [];
  for (let wave = 0; wave < 6; wave += 1) {
    const sockets = await Promise.all(Array.from({ length: clients }, askSlowly));
    await eventually(async () => expect(await busy()).toEqual([]));
    for (let n = 0; n < 20; n += 1) {
      expect((await data.call('GET', '/api/v1/table_data/1?table_definition_id=1')).status).toBe(200);
      const record = { n: 10_000 + wave * 100 + n };
      expect((await data.call('POST', '/api/v1/table_data', { table_definition_id: 1, record })).status).toBe(201);
    }
    expect(sockets.filter((socket) => socket.readableEnded || socket.destroyed)).toEqual([]);
    peaks.push(residentMb());
    for (const socket of sockets) socket.destroy();
  }
  // The heap grows during the first waves.
  const [first, , , , , latest] = peaks as [number, number, number, number, number, number];
  expect({ peaks, grown: latest - first < 2 * clients * pageMb }).toEqual({ peaks, grown: true });
});
