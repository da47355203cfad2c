// Group 6 at every operation of the document that takes a body: a body declared as JSON that is not
// a JSON object in UTF-8 is refused before anything is done.
import { type Operation, readOperations } from '../isolation/operations.ts';
import { type Case, each, type Row } from './rows.ts';
import { request } from './wire.ts';

const unknownId = 2_147_483_647;
const operations = readOperations().filter(({ method, takesFile }) => method !== 'GET' && !takesFile);
const pathOf = ({ path }: Operation) => path.replace(/\{\w+\}/g, String(unknownId));

const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/**
 * Not JSON, or JSON that two readers would read differently: refused before the operation matters.
 */
const broken: [string, Buffer][] = [
  ['half an object', bytes('{"a":')],
  ['two values', bytes('{}{}')],
  ['a value and more', bytes('{} x')],
  ['NaN', bytes('{"a":NaN}')],
  ['Infinity', bytes('{"a":-Infinity}')],
  ['a comment', bytes('{/* */"a":1}')],
  ['single quotes', bytes("{'a':1}")],
  ['names without quotes', bytes('{a:1}')],
  ['a comma at the end', bytes('{"a":1,}')],
  ['a number with a leading zero', bytes('{"a":01}')],
  ['a line feed in a text', bytes('{"a":"\n"}')],
  ['a property twice', bytes('{"a":1,"a":2}')],
  ['a property twice, once escaped', bytes('{"a":1,"\\u0061":2}')],
  ['a property twice inside', bytes('{"a":{"b":1,"b":2}}')],
  ['a prototype', bytes('{"__proto__":{"polluted":true}}')],
  ['a prototype, escaped', bytes('{"\\u005f\\u005fproto\\u005f\\u005f":{"polluted":true}}')],
  ['a prototype inside', bytes('{"a":[{"__proto__":{"polluted":true}}]}')],
  ['half a surrogate', bytes('{"a":"\\ud800"}')],
  ['the other half', bytes('{"a":"\\udc00\\ud800"}')],
  ['half a surrogate in a name', bytes('{"\\ud800":1}')],
  ['bytes that are no UTF-8', bytes('{"a":"', [0xff, 0xfe], '"}')],
  ['an overlong slash', bytes('{"a":"', [0xc0, 0xaf], '"}')],
  ['a surrogate in UTF-8', bytes('{"a":"', [0xed, 0xa0, 0x80], '"}')],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], '{}')],
  ['UTF-16', Buffer.from('\ufeff{"a":1}', 'utf16le')],
  ['21 objects deep', bytes(`${'{"a":'.repeat(21)}1${'}'.repeat(21)}`)],
  ['100,000 lists deep', bytes('['.repeat(100_000))],
  ['blanks alone', bytes('  ')],
];

const objectless: [string, Buffer][] = ['null', 'true', '7', '"text"', '[]', '[{}]', '1e999'].map((text) => [
  text,
  bytes(text),
]);

const otherTypes = [
  ...[
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
  ],
  ...[
    'application/jsonx',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json, text/plain',
  ],
];

const toEach = (inputs: [string, Buffer][], status: number[]): Row['cases'] => {
  return ({ api: { token } }) =>
    operations.flatMap((operation) =>
      inputs.map(
        ([name, body]): Case => ({
          name: `${operation.name}: ${name}`,
          bytes: request(operation.method, pathOf(operation), { token, body }),
          status,
        }),
      ),
    );
};

// The body is valid for no operation; where the address has an id, that is unknown too.
const refused = [400, 403, 404, 422];

export const everyBodyRows: Row[] = [
  { id: 'BOD-09', what: 'what is no JSON, to every operation', cases: toEach(broken, [400]) },
  { id: 'BOD-09', what: 'JSON that is no object, to every operation', cases: toEach(objectless, refused) },
  {
    id: 'BOD-10',
    what: 'other types of content, to every operation',
    cases: ({ api: { token } }) =>
      operations.flatMap(({ method, ...operation }) => {
        const send = (type: string | null) => ({
          bytes: request(method, pathOf({ method, ...operation }), { token, body: '{}', type }),
          status: 415,
        });
        return [
          ...each(otherTypes, send, (type) => `${operation.name}: ${type}`),
          { name: `${operation.name}: none`, ...send(null) },
        ];
      }),
  },
  {
    id: 'BOD-01',
    what: 'names of parts of objects, to every operation',
    cases: toEach(
      [
        ['constructor', bytes('{"constructor":{"prototype":{"polluted":true}}}')],
        ['toString', bytes('{"toString":"polluted","valueOf":1,"hasOwnProperty":null}')],
        ['prototype in brackets', bytes('{"a[__proto__]":{"polluted":true},"__proto__[a]":1}')],
        ['an unknown property', bytes('{"polluted":true}')],
      ],
      refused,
    ),
    after: async ({ api }) => {
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      for (const path of ['/account', '/domains', '/table_definitions', '/imports', '/usage'])
        expect(JSON.stringify(await api.get(path))).not.toContain('polluted');
    },
  },
];
