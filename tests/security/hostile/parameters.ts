// Group 6, parameters of lists: pages, searches and orders beyond what there is.
import { readOperations } from '../isolation/operations.ts';
import { each, type Row } from './rows.ts';
import { request } from './wire.ts';
import type { World } from './world.ts';

const operations = readOperations().filter(({ item, path }) => item && !path.includes('{'));

/** The addresses of all lists, ready for one more parameter. */
const listsOf = ({ table }: World) =>
  operations.map(({ path, parameters }) => {
    const isOfTable = parameters.some(({ name }) => name === 'table_definition_id');
    return isOfTable ? `${path}?table_definition_id=${table.id}&` : `${path}?`;
  });

const get = ({ api: { token } }: World, path: string) => request('GET', path, { token });

const isClamped = ({ body }: { body: string }) =>
  JSON.parse(body).meta?.per_page === 1_000 ? undefined : 'is not cut to the most there may be';
const findsNothing = ({ body }: { body: string }) =>
  JSON.parse(body).data.length === 0 ? undefined : 'finds something';

export const parameterRows: Row[] = [
  {
    id: 'BOD-13',
    what: 'pages that are none, and more than all',
    cases: (world) =>
      listsOf(world).flatMap((list) => [
        ...each(
          ['0', '-1', '1e9', '1.5', 'NaN', '1;drop', '', ' 1', '1 ', '01', '+1', '0x1', '1,2', '\u0661', 'null', '[]'],
          (page) => ({ bytes: get(world, `${list}page=${encodeURIComponent(page)}`), status: 400 }),
          (page) => `${list} page ${JSON.stringify(page)}`,
        ),
        ...each(
          ['0', '-1', '1e9', '1.5', 'NaN', '1;drop', '', '01', '1,2', 'all'],
          (size) => ({ bytes: get(world, `${list}per_page=${encodeURIComponent(size)}`), status: 400 }),
          (size) => `${list} per_page ${JSON.stringify(size)}`,
        ),
        ...each(
          ['1001', '1000000000', '9223372036854775808', '9'.repeat(400)],
          (size) => ({ bytes: get(world, `${list}per_page=${size}`), status: 200, wrong: isClamped }),
          (size) => `${list} per_page ${size.slice(0, 30)}`,
        ),
        ...each(
          [
            'page=1&page=2',
            'per_page=1&per_page=1000',
            'page[]=1',
            'page[a]=1',
            'Page=1',
            'sort=id&sort=name',
            'limit=1',
            '__proto__=1',
          ],
          (query) => ({ bytes: get(world, `${list}${query}`), status: 400 }),
          (query) => `${list}${query}`,
        ),
        ...each(
          ['999999999', '2147483648', '9223372036854775808', '9'.repeat(400)],
          (page) => ({ bytes: get(world, `${list}page=${page}&per_page=1000`), status: 200, wrong: findsNothing }),
          (page) => `${list}: the page ${page.slice(0, 30)} beyond the last`,
        ),
      ]),
  },
  {
    id: 'BOD-15',
    what: 'searches by signs that mean something elsewhere',
    cases: (world) => [
      ...each(
        [
          '%',
          '_',
          '\\',
          "'",
          '";--',
          '\\%',
          '%%',
          "' or '1'='1",
          '$1',
          '$' + '{1}',
          '(a+)+$',
          '.*',
          'a:b:c',
          '*',
          '\u{1f984}',
          'x'.repeat(5_000),
        ],
        (text) => ({
          bytes: get(world, `/domains?q=${encodeURIComponent(`name:contains:${text}`)}`),
          status: 200,
          wrong: findsNothing,
        }),
        (text) => `contains ${text}`,
      ),
      ...each(
        [
          ...[
            'name:regex:(a+)+$',
            'name:like:%',
            'name:CONTAINS:x',
            'name:eq',
            'name::x',
            ':::',
            ':eq:x',
            ':',
            'name:',
            'name:in',
          ],
          ...[
            'id:eq:x',
            'id:eq:1.5',
            'id:eq:9223372036854775808',
            'id:contains:1',
            'id:in:1|x',
            'created_at:gt:yesterday',
          ],
          ...[
            'created_at:gt:2026-02-30',
            'created_at:gt:infinity',
            'name:null:x',
            'name:toString:x',
            'name:constructor:x',
          ],
          ...['', ' ', '\0', 'name:eq:\0', 'name\0:eq:x'],
        ],
        (text) => ({ bytes: get(world, `/domains?q=${encodeURIComponent(text)}`), status: 400 }),
        (text) => JSON.stringify(text),
      ),
      ...each(['%ff', '%c0%af', '%ed%a0%80'], (bytes) => ({
        bytes: get(world, `/domains?q=name:eq:${bytes}`),
        status: 400,
      })),
      {
        name: '101 conditions',
        bytes: get(world, `/domains?${Array.from({ length: 101 }, () => 'q=name:eq:x').join('&')}`),
        status: 400,
      },
    ],
  },
  {
    id: 'BOD-16',
    what: 'searches and orders by what is not shown',
    cases: (world) => {
      const hidden = [
        ...[
          'password_hash',
          'account_id',
          'oauth_secret',
          'client_secret',
          'secret_hash',
          'session',
          'private_key',
          'name_key',
        ],
        ...[
          '__proto__',
          'constructor',
          'id;drop',
          'id"',
          '(select 1)',
          'domain.name',
          'user.password_hash',
          'xmin',
          'ctid',
        ],
      ];
      return listsOf(world).flatMap((list) =>
        hidden.flatMap((field) => [
          {
            name: `${list} q ${field}`,
            bytes: get(world, `${list}q=${encodeURIComponent(`${field}:eq:2`)}`),
            status: 400,
          },
          {
            name: `${list} sort ${field}`,
            bytes: get(world, `${list}sort=-${encodeURIComponent(field)}`),
            status: 400,
          },
        ]),
      );
    },
  },
];
