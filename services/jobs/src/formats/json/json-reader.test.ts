import { ServiceError } from '@almanac/service-kit/errors';
import { parse } from 'csv-parse/sync';
import type { ColumnTarget } from '../table-file/table-file.ts';
import { openJson } from './json-reader.ts';

async function* cut(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const types = { code: 'string', n: 'integer', price: 'decimal', ok: 'boolean', doc: 'json' } as const;

async function read(text: string, format: 'json' | 'ndjson', size: number) {
  const file = await openJson(() => cut(text, size), { format, columns: ['code', 'n'] });
  const targets = file.header.map((name): ColumnTarget | undefined =>
    name in types ? { target: name, dataType: types[name as keyof typeof types] } : undefined,
  );
  let rows = '';
  for await (const chunk of file.rows(targets)) rows += Buffer.from(chunk).toString();
  return { header: file.header, rows, seen: file.rowsRead() };
}

const problemOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => {
      expect(error).toBeInstanceOf(ServiceError);
      return (error as ServiceError).message;
    },
  );

describe('JSON', () => {
  const objects = [
    '{"code":"a","n":1,"price":12345678901234567.890}',
    '{"code":"b, \\"q\\"","n":null,"ok":true,"doc":{"deep":[1.10,9007199254740993]}}',
    '{"n":9223372036854775807,"code":"","price":1e3,"doc":"text"}',
  ];
  const expected =
    '1,,a,1,12345678901234567.890,,\n2,,"b, ""q""",,,true,"{""deep"":[1.1,9007199254740993]}"\n3,,"",9223372036854775807,1000,,"""text"""\n';

  it.each([
    ['ndjson', 'lines', objects.join('\n')],
    ['ndjson', 'lines with CRLF', `${objects.join('\r\n')}\r\n`],
    ['json', 'an array', `[${objects.join(',')}]`],
    ['json', 'an array with blanks', ` \n[ ${objects.join(' ,\n ')} ]\n`],
  ] as const)('as %s: reads %s with all digits, however they are cut', async (format, _what, text) => {
    for (const size of [1, 2, 3, 7, 50, 1000]) {
      const { header, rows, seen } = await read(text, format, size);
      expect(header).toEqual(['code', 'n', 'price', 'ok', 'doc']);
      expect([rows, seen]).toEqual([expected, 3]);
    }
  });

  it('reads numbers written as strings as the same cells', async () => {
    const numbers = '{"n":9007199254740993,"price":123456789012345678.0123456789}';
    const strings = '{"n":"9007199254740993","price":"123456789012345678.0123456789"}';
    for (const format of ['ndjson', 'json'] as const) {
      const file = (record: string) => (format === 'json' ? `[${record}]` : record);
      expect(await read(file(strings), format, 100)).toEqual(await read(file(numbers), format, 100));
    }
  });

  it('numbers rows by the lines of the file', async () => {
    const { rows } = await read('\n\n{"code":"a"}\n\n  \n{"code":"b"}', 'ndjson', 4);
    expect(rows).toBe('3,,a\n6,,b\n');
  });

  it.each([['ndjson', ''] as const, ['ndjson', ' \n'] as const, ['json', '[]'] as const, ['json', ' [ ] '] as const])(
    'as %s: has the columns of the table and no row in %j',
    async (format, text) => {
      expect(await read(text, format, 2)).toEqual({ header: ['code', 'n'], rows: '', seen: 0 });
    },
  );

  it('reports problems of a row beside it, and reads on', async () => {
    const lines = [
      '{"code":7}',
      '{"code":{"a":1}}',
      '{"code":false,"n":{}}',
      '{"code":"x"',
      '[1]',
      '5',
      '{"code":"a","code":"b"}',
      '{"code":"\\u0000"}',
      '{"code":"\\ud800"}',
      '{"code":"ok"}',
    ];
    const { rows } = await read(lines.join('\n'), 'ndjson', 5);
    const found = parse(rows).map(([number, problems]: string[]) => [number, problems && JSON.parse(problems)]);
    const whole = (value: string, message: string) => [{ column: '', value, message }];
    const text = (value: string) => [{ column: 'code', value, message: 'code must be text' }];
    expect(found).toEqual([
      ['1', text('7')],
      ['2', text('{"a":1}')],
      ['3', text('false')],
      ['4', whole('{"code":"x"', 'The record is not valid JSON.')],
      ['5', whole('[1]', 'The record is not a JSON object.')],
      ['6', whole('5', 'The record is not a JSON object.')],
      ['7', whole('{"code":"a","code":"b"}', 'The record names a property twice in one object.')],
      ['8', whole('{"code":"\\u0000"}', 'The record holds the character U+0000, which no text may hold.')],
      ['9', whole('{"code":"\\ud800"}', 'The record holds a lone surrogate, which is no character.')],
      ['10', ''],
    ]);
  });

  it('lists unusual property names as they are', async () => {
    expect((await read('[{"__proto__":1,"constructor":2}]', 'json', 3)).header).toEqual(['__proto__', 'constructor']);
  });

  it.each([
    ['an object', '{"data":[]}', 'it begins with ['],
    ['an array that is cut', '[{"code":"a"},{"co', 'never closed; the file ends in or after record 2'],
    ['a string that is cut', '["abc', 'never closed'],
    ['two arrays', '[]\n[]', 'Something follows'],
    ['a missing record', '[{"code":"a"},,{"code":"b"}]', 'After record 1'],
    ['a comma too many', '[{"code":"a"},]', 'After record 1'],
  ])('refuses %s instead of an array', async (_what, text, problem) => {
    for (const size of [1, 4, 1000]) expect(await problemOf(read(text, 'json', size))).toContain(problem);
  });

  it('stops an endless record, and endless names', async () => {
    const endless = async function* (begin: string) {
      yield Buffer.from(begin);
      for (let i = 0; i < 300; i += 1) yield Buffer.alloc(64 * 1024, 'a');
    };
    const open = (format: 'json' | 'ndjson') =>
      openJson(() => endless(format === 'json' ? '["' : '{"'), { format, columns: [] });
    expect(await problemOf(open('json'))).toContain('Record 1 is longer than');
    expect(await problemOf(open('ndjson'))).toContain('Line 1 is longer than');
    const names = Array.from({ length: 1001 }, (_, i) => `{"c${i}":1}`).join('\n');
    expect(await problemOf(read(names, 'ndjson', 1000))).toContain('more than 1000 different properties');
  });
});
