// Database connections that break at each step of a call: the caller gets a retryable error, and
// the retry succeeds.
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { givenImport, givenJobs, type Jobs } from '../given.ts';

const stepsAtMost = 200;

let jobs: Jobs;
let proxy: TcpProxy;
let other: Awaited<ReturnType<Jobs['another']>>;
let messages = 0;
/** The connection breaks at this message, which does not arrive. */
let breakAt = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  let databaseUrl = '';
  jobs = await givenJobs({ databaseUrl: (url) => (databaseUrl = url) });
  jobs.neighbours.addTable({ key: 'countries' });
  proxy = await startTcpProxy(databaseUrl, () => () => {
    messages += 1;
    return messages === breakAt;
  });
  other = await jobs.another({ databaseUrl: proxy.urlOf });
});
afterAll(async () => {
  await other?.stop();
  await proxy?.stop();
  await jobs?.close();
});

it('an upload whose connection breaks at any step succeeds, or can be repeated', async () => {
  const { id, import_tables } = await givenImport(jobs, { countries: undefined });
  const url = `${other.url}/api/v1/imports/${id}/tables/${import_tables[0].id}/file`;
  const upload = () => jobs.send('PUT', url, 'code,name\nDE,Germany\n', { 'content-type': 'text/csv' });
  const statuses: number[] = [];
  do {
    messages = 0;
    breakAt = statuses.length + 1;
    statuses.push((await upload()).status);
  } while (messages >= breakAt && breakAt < stepsAtMost);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(statuses.at(-1)).toBe(200);
  expect(messages).toBeLessThan(breakAt);
});
