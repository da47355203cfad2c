import { AlmanacError } from '@almanac/client';
import { QueryObserver } from '@tanstack/react-query';
import { createQueryClient, isOutOfDate } from './query-client.ts';

const queryKey = ['things'];

/** A query that was answered once, as a page that shows it sees it after another answer. */
async function readAgain(second: () => Promise<string>) {
  const client = createQueryClient();
  const answers = [async () => 'first', second];
  const queryFn = () => (answers.shift() as () => Promise<string>)();
  const observer = new QueryObserver(client, { queryKey, queryFn });
  const end = observer.subscribe(() => {});
  await observer.refetch({ cancelRefetch: false });
  await new Promise((resolve) => setTimeout(resolve, 2));
  await observer.refetch();
  const query = client.getQueryCache().find({ queryKey, exact: true });
  const result = { ...observer.getCurrentResult(), isOutOfDate: query !== undefined && isOutOfDate(query) };
  end();
  client.clear();
  return result;
}

const refused = (status: number) => () =>
  Promise.reject(new AlmanacError('GET /things', new Response(null, { status }), { error: 'Refused' }));

it.each([
  ['no answer', () => Promise.reject(new TypeError('Failed to fetch'))],
  ['502', refused(502)],
  ['429', refused(429)],
])('an answer stays when the next reading of it has %s', async (_what, second) => {
  expect(await readAgain(second)).toMatchObject({
    data: 'first',
    error: null,
    status: 'success',
    isOutOfDate: true,
  });
});

it.each([401, 403, 404])('an answer of %i is an error all the same: it says what is so now', async (status) => {
  expect(await readAgain(refused(status))).toMatchObject({
    status: 'error',
    error: { status },
    isOutOfDate: false,
  });
});

it('an answer that was read again is up to date', async () => {
  expect(await readAgain(async () => 'second')).toMatchObject({ data: 'second', isOutOfDate: false });
});
