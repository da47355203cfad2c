// Group 6, JSON bodies: numbers, names and texts that readers may take for others.
import { type Case, each, type Row } from './rows.ts';
import { exchange, request } from './wire.ts';
import type { World } from './world.ts';

const post = ({ api: { token } }: World, path: string, body: string) => request('POST', path, { token, body });
const record = (world: World, values: string) =>
  post(world, '/table_data', `{"table_definition_id":${world.table.id},"record":${values}}`);
const grid = (world: World, more: string) =>
  post(world, '/table_data/grid', `{"table_definition_id":${world.table.id},"startRow":0,"endRow":10,${more}}`);

/** Numbers that a reader of doubles rounds, such as 2^53 + 1. */
const inexact = ['9007199254740993', '9223372036854775807', '9223372036854775808', '18446744073709551617', '1e30'];

export const bodyRows: Row[] = [
  {
    id: 'BOD-01',
    what: 'names of parts of objects where names of columns stand',
    cases: (world) => {
      const names = [
        '__proto__',
        '\\u005f\\u005fproto__',
        'constructor',
        'prototype',
        'toString',
        'valueOf',
        '__defineSetter__',
      ];
      const { id } = world.table;
      return [
        ...each(names, (name) => ({ bytes: record(world, `{"code":"P","${name}":"polluted"}`), status: [400, 422] })),
        ...each(
          names,
          (name) => ({
            bytes: grid(world, `"filterModel":{"${name}":{"filterType":"text","type":"equals","filter":"x"}}`),
            status: [400, 422],
          }),
          (name) => `a filter on ${name}`,
        ),
        ...each(
          names,
          (name) => ({ bytes: grid(world, `"sortModel":[{"colId":"${name}","sort":"asc"}]`), status: [400, 422] }),
          (name) => `a sort by ${name}`,
        ),
        ...each(
          ['__proto__', '\\u005f\\u005fproto__'],
          (name) => ({
            bytes: post(
              world,
              '/column_definitions',
              `{"table_definition_id":${id},"column_definition":{"name":"x","data_type":"text","${name}":{"polluted":1}}}`,
            ),
            status: 400,
          }),
          (name) => `a column with ${name}`,
        ),
      ];
    },
  },
  {
    id: 'BOD-03',
    what: 'a property twice',
    cases: (world) => {
      const { id } = world.table;
      const own = `"table_definition_id":${id}`;
      return each(
        [
          `{${own},"table_definition_id":1,"record":{"code":"D"}}`,
          `{"table_definition_id":1,${own},"record":{"code":"D"}}`,
          `{${own},"record":{"code":"D"},"record":{"code":"E"}}`,
          `{${own},"record":{"code":"D","code":"E"}}`,
          `{${own},"t\\u0061ble_definition_id":1,"record":{"code":"D"}}`,
          `{${own},"record":{"code":"D","c\\u006fde":"E"}}`,
        ],
        (body) => ({ bytes: post(world, '/table_data', body), status: 400 }),
      );
    },
  },
  {
    id: 'BOD-04',
    what: 'numbers that are rounded to a neighbour',
    cases: (world) => {
      const { token } = world.api;
      const { id } = world.table;
      const refused = [400, 404, 422];
      return [
        ...each(
          inexact,
          (n) => ({ bytes: request('GET', `/domains/${n}`, { token }), status: refused }),
          (n) => `an id in a path: ${n}`,
        ),
        ...each(
          inexact,
          (n) => ({
            bytes: post(world, '/table_data', `{"table_definition_id":${n},"record":{"code":"N"}}`),
            status: refused,
          }),
          (n) => `an id in a body: ${n}`,
        ),
        ...each(
          inexact,
          (n) => ({
            bytes: post(world, '/table_data/delete_records', `{"table_definition_id":${id},"ids":[${world.row},${n}]}`),
            status: refused,
          }),
          (n) => `an id in a list: ${n}`,
        ),
        ...each(
          [
            ...inexact,
            '2147483648',
            '1.5',
            '1e400',
            '"9007199254740993"',
            '"0x10"',
            '"1e3"',
            '" 7 "',
            'true',
            '[1]',
            '{}',
          ],
          (n) => ({ bytes: record(world, `{"code":"N","count":${n}}`), status: [400, 422] }),
          (n) => `an integer: ${n}`,
        ),
        ...each(
          ['1.5', '-1', '0', '"x"', 'null', '[1]', '{"toString":1}', 'true'],
          (n) => ({
            bytes: post(world, '/table_data', `{"table_definition_id":${n},"record":{"code":"N"}}`),
            status: refused,
          }),
          (n) => `an id that is none: ${n}`,
        ),
      ];
    },
  },
  {
    id: 'BOD-06',
    what: 'decimals that no double holds',
    writes: true,
    cases: (world) => [
      ...each(['12345678901234567.89', '0.10', '-9007199254740993.01', '"12345678901234567.89"'], (n) => ({
        bytes: record(world, `{"code":"D${n.replace(/\W/g, '').slice(-8)}${n.length}","amount":${n}}`),
        status: 201,
        // As it was written: a reader of decimals reads the same number.
        wrong: ({ body }) => (body.includes(n.replaceAll('"', '')) ? undefined : 'is stored as another number'),
      })),
      ...each(['1.005', '12345678901234567890123456789.01', '1e-3', '1e40', '"NaN"', '"Infinity"', '"1,5"'], (n) => ({
        bytes: record(world, `{"code":"R","amount":${n}}`),
        status: [400, 422],
      })),
    ],
  },
  {
    id: 'BOD-12',
    what: 'names in the form of forms',
    cases: (world) => {
      const definitions = (body: string) => ({
        bytes: post(world, '/table_definitions', body),
        status: [400, 404, 422],
      });
      const own = `"branch_id":${world.table.branchId},"table_definition[domain_id]":${world.table.domainId}`;
      return each(
        [
          `{${own},"table_definition[__proto__][x]":1,"table_definition[name]":"F"}`,
          `{${own},"table_definition[__proto__]":{"x":1},"table_definition[name]":"F"}`,
          `{${own},"table_definition[constructor][prototype][x]":1,"table_definition[name]":"F"}`,
          `{${own},"table_definition[name][]":"F"}`,
          `{${own},"table_definition[name][]":["F"]}`,
          `{${own},"table_definition[name":"F"}`,
          `{${own},"table_definition]name[":"F"}`,
          `{${own},"table_definition[]":"F"}`,
          `{${own},"table_definition[[name]]":"F"}`,
          `{${own},"table_definition[name]":"F","table_definition":{"name":"G"}}`,
          `{${own},"table_definition[name]":"F","name":"G"}`,
          `{${own},"table_definition${'[a]'.repeat(1_000)}":"F"}`,
          `{${own},"${'[a]'.repeat(1_000)}":"F","table_definition[name]":"F"}`,
        ],
        definitions,
      );
    },
  },
  {
    id: 'BOD-18',
    what: 'a parameter in the query and in the body',
    cases: (world) => {
      const { token } = world.api;
      const { id } = world.table;
      const body = `{"table_definition_id":${id},"record":{"code":"Q"}}`;
      return [
        ...each([`${id}`, '1', String(2 ** 31 - 1)], (other) => ({
          bytes: request('POST', `/table_data?table_definition_id=${other}`, { token, body }),
          status: 400,
        })),
        {
          name: 'in the path and the body',
          bytes: request('PATCH', `/domains/${world.table.domainId}`, { token, body: '{"id":1}' }),
          status: 400,
        },
        {
          name: 'one that the other names, twice in a query',
          bytes: request('GET', `/table_data?table_definition_id=${id}&table_definition_id=1`, { token }),
          status: 400,
        },
      ];
    },
  },
  {
    id: 'BOD-19',
    what: 'names that look alike, and are or are not the same',
    writes: true,
    cases: (world) => {
      const domain = (name: string) => post(world, '/domains', JSON.stringify({ domain: { name } }));
      const made = (name: string): Case => ({
        name: JSON.stringify(name),
        bytes: domain(name),
        status: 201,
        wrong: ({ body }) => (JSON.parse(body).name === name ? undefined : 'is stored as another text'),
      });
      const refused = (name: string): Case => ({ name: JSON.stringify(name), bytes: domain(name), status: [400, 422] });
      return [
        made('Caf\u00e9 \u{1f600}'),
        ...[
          'Cafe\u0301 \u{1f600}',
          'CAF\u00c9 \u{1f600}',
          'Ca\u200bf\u00e9 \u{1f600}',
          'Caf\u00e9\u00a0\u{1f600}',
          '\u{ff23}af\u00e9 \u{1f600}',
        ].map(refused),
        made('C\u0430f\u00e9 \u{1f600}'), // with a Cyrillic letter it is another name; only the code points differ
        made('\u202eevil\u202c'),
        refused('evil'),
        ...['', ' ', '\u200b', '\u00a0\u2003', '\u202e\u202c', 'nul\u0000'].map(refused),
        made('\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{20bb7} family'),
        ...['x'.repeat(256), '\u{1f600}'.repeat(256)].map(refused),
        made('\u{1f600}'.repeat(255)),
      ];
    },
    after: async ({ api: { token }, victimApi }) => {
      // The other account sees only its own names.
      const answer = await exchange(request('GET', '/domains?q=name:contains:evil', { token: victimApi.token }));
      expect(JSON.parse(answer.body)).toMatchObject({ data: [] });
      expect((await exchange(request('GET', '/domains?q=name:eq:Caf%C3%A9%20%F0%9F%98%80', { token }))).status).toBe(
        200,
      );
    },
  },
];
