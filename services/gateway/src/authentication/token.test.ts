import type { IncomingMessage } from 'node:http';
import { readBearer } from './token.ts';

const socket = {} as IncomingMessage['socket'];
const read = (authorization: string | undefined, on = socket) => readBearer({ headers: { authorization }, socket: on });

it('reads the bearer token of each request, whatever the connection sent before', () => {
  const first = read('Bearer a.b.c');
  expect(first).toMatchObject({ text: 'a.b.c' });
  expect(read('Bearer a.b.c')).toBe(first);
  const second = read('bearer  a.b.d');
  expect(second).toMatchObject({ text: 'a.b.d' });
  expect(second.hash).not.toBe(first.hash);
  expect(read('Bearer a.b.c')).toEqual(first);
  expect(read('Bearer a.b.c', {} as IncomingMessage['socket'])).toEqual(first);
});

it.each([undefined, '', 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer a.b', 'Bearer a.b.c d'])(
  'refuses a header without a bearer token, also after one with a token: %s',
  (header) => {
    read('Bearer a.b.c');
    expect(() => read(header)).toThrow();
  },
);
