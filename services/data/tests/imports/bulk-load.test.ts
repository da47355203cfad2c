import { load, read } from '../files.ts';
import { caller, create, deploy, failureOf } from '../given.ts';

import { file_columns, givenTable, list, net, nextId, overLoads, shown } from './loads.ts';

overLoads();

const zero = { inserted: 0, updated: 0, deleted: 0, unchanged: 0, rejected: 0 };

describe('a load', () => {
  it('inserts, updates and keeps rows, and counts each', async () => {
    const { table } = await givenTable();
    const first = await load(net, table, 'a,one,1,A\nb,two,,\nc,three,3,C\n', { file_columns });
    expect(first).toMatchObject({ ...zero, status: 'completed', rows_read: 3, inserted: 3, errors: [] });
    const second = await load(net, table, 'a,one,1,A\r\nb,TWO,,B\r\nd,four,4,', { file_columns });
    expect(second).toMatchObject({ ...zero, status: 'completed', rows_read: 3, inserted: 1, updated: 1, unchanged: 1 });
    expect(await shown(table)).toEqual(['a|one|1|A', 'b|TWO||B', 'c|three|3|C', 'd|four|4|']);
    const versions = (await list(table)).map((row: { svc_version: number }) => row.svc_version);
    expect(versions).toEqual([1, 2, 1, 1]);
    const again = await load(net, table, 'a,one,1,A\nb,TWO,,B\n', { file_columns });
    expect(again).toMatchObject({ ...zero, unchanged: 2 });
    expect((await list(table))[0].svc_updated_by).toBe('application:9');
  });

  it('analyses the table that it filled, so that its first readers get good plans', async () => {
    const { table } = await givenTable();
    const rows = Array.from({ length: 3_000 }, (_, i) => `k${i},${i},,\n`).join('');
    expect(await load(net, table, rows, { file_columns })).toMatchObject({ inserted: 3_000 });
    const known = await net.query(
      `select s.correlation from pg_stats s join deployed_table d on s.tablename = format('t_%s', d.lineage_id)
       where d.table_definition_id = ${table} and s.attname = 'svc_sk'`,
    );
    expect(known).toEqual([{ correlation: 1 }]);
  });

  it('makes the table equal to a full file, but not when that would delete most of it', async () => {
    const { table } = await givenTable();
    await load(net, table, 'a,1,,\nb,2,,\nc,3,,\nd,4,,\n', { file_columns });
    expect(await load(net, table, 'a,1,,\nb,2,,\ne,5,,\n', { file_columns, pattern: 'full' })).toMatchObject({
      ...zero,
      status: 'completed',
      inserted: 1,
      deleted: 2,
      unchanged: 2,
    });
    const mass = await load(net, table, 'a,1,,\n', { file_columns, pattern: 'full' });
    expect([mass.status, mass.errors]).toEqual(['failed', [expect.stringMatching(/delete 2 of 3 rows/)]]);
    expect(await shown(table)).toEqual(['a|1||', 'b|2||', 'e|5||']);
    expect(await load(net, table, 'a,1,,\n', { file_columns, pattern: 'full', mass_delete_percent: 70 })).toMatchObject(
      { deleted: 2 },
    );
    expect(await load(net, table, '', { file_columns, pattern: 'full', allow_mass_delete: true })).toMatchObject({
      rows_read: 0,
      deleted: 1,
    });
    expect(await load(net, table, 'a,9,,\n', { file_columns, pattern: 'full' })).toMatchObject({ inserted: 1 });
  });

  it('treats each row by its transaction code', async () => {
    const { table } = await givenTable();
    await load(net, table, 'a,1,,\nb,2,,\nc,3,,\n', { file_columns });
    const options = { file_columns: ['svc_transaction_code', ...file_columns], pattern: 'incremental_with_delete' };
    expect(await load(net, table, 'd,a,,x,Q\nU,b,zwei,,\ni,e,5,,\nd,zz,,,\n', options)).toMatchObject({
      ...zero,
      status: 'completed',
      inserted: 1,
      updated: 1,
      deleted: 1,
      unchanged: 1,
    });
    expect(await shown(table)).toEqual(['b|zwei||', 'c|3||', 'e|5||']);
    // In any order of the file, a key is deleted before it is written.
    const again = 'i,b,neu,,\nd,b,,,\nd,c,,,\nd,c,,,\nu,c,drei,,\nd,e,,,\nd,f,,,\ni,f,6,,\n';
    expect(await load(net, table, again, options)).toMatchObject({
      ...zero,
      status: 'completed',
      inserted: 1,
      updated: 2,
      deleted: 1,
      unchanged: 4,
    });
    expect(await shown(table)).toEqual(['b|neu||', 'c|drei||', 'f|6||']);
    const twice = await load(net, table, 'd,b,,,\ni,b,1,,\nu,b,2,,\n', options);
    expect([twice.status, twice.rejections.map(({ row, message }) => [row, message])]).toEqual([
      'failed',
      [[3, 'code must be unique: an earlier row of the file has this value']],
    ]);
    const bad = await load(net, table, 'x,b,2,,\n,c,3,,\n', options);
    expect([bad.status, bad.rejections.map((each) => each.message)]).toEqual([
      'failed',
      ['svc_transaction_code must be i, u or d', 'svc_transaction_code must be i, u or d'],
    ]);
    expect((await failureOf(load(net, table, '', { file_columns, pattern: 'incremental_with_delete' }))).kind).toBe(
      'validation_failed',
    );
  });

  it('that was cancelled before its merge never loads; a merged one keeps its result', async () => {
    const { table } = await givenTable();
    const cancel = (load_id: string) => net.jobs.CancelLoad(caller, { load_id, table_definition_id: table });
    expect(await cancel('never')).toMatchObject({ ...zero, status: 'cancelled', errors: [] });
    expect(await load(net, table, 'a,1,,\n', { file_columns, load_id: 'never' })).toMatchObject({
      status: 'cancelled',
      inserted: 0,
    });
    expect(await shown(table)).toEqual([]);
    await load(net, table, 'b,1,,\n', { file_columns, load_id: 'merged' });
    expect(await cancel('merged')).toMatchObject({ status: 'completed', inserted: 1 });
    expect(await shown(table)).toEqual(['b|1||']);
  });

  it('writes nothing on a dry run, and counts what it would write', async () => {
    const { table } = await givenTable();
    await load(net, table, 'a,1,,\nb,2,,\n', { file_columns });
    const before = await list(table);
    const result = await load(net, table, 'a,ONE,,\nc,3,,\n', { file_columns, pattern: 'full', dry_run: true });
    expect(result).toMatchObject({ ...zero, status: 'completed', inserted: 1, updated: 1, deleted: 1 });
    expect(await list(table)).toEqual(before);
  });

  it('is done once for one load id', async () => {
    const { table } = await givenTable();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => load(net, table, 'a,1,,\nb,2,,\n', { file_columns, load_id: 'once' })),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ inserted: 2 });
    const later = await load(net, table, 'x,1,,\n', { file_columns, load_id: 'once' });
    expect(later).toEqual(answers[0]);
    expect(await shown(table)).toEqual(['a|1||', 'b|2||']);
    const theirs = await failureOf(
      load(net, table, 'x,1,,\n', { file_columns, load_id: 'once' }, { ...caller, accountId: 2 }),
    );
    expect(theirs.kind).toBe('not_found');
  });

  it('keeps text as it is: zeros, blanks, quotes, lines, formulas; and distinguishes null from empty', async () => {
    const { table } = await givenTable([{ name: 'note', data_type: 'text' }]);
    const notes = [
      '007',
      ' x ',
      'say ""hi""',
      'two\nlines',
      '=1+1',
      'a,b',
      '\\N',
      'NULL',
      '😀',
      "'; drop table x; --",
      '\\.',
    ];
    const csv = `${notes.map((note, i) => `${i},n,,,"${note}"`).join('\n')}\n90,n,,,\n91,n,,,""\n`;
    expect((await load(net, table, csv, { file_columns: [...file_columns, 'note'] })).errors).toEqual([]);
    const rows = await list(table);
    const byCode = new Map(rows.map((row: { code: string; note: string }) => [row.code, row.note]));
    expect(notes.map((_, i) => byCode.get(String(i)))).toEqual(notes.map((note) => note.replaceAll('""', '"')));
    expect([byCode.get('90'), byCode.get('91')]).toEqual([null, '']);
  });

  it('fills columns from any position, and keeps the columns that it does not name', async () => {
    const { table } = await givenTable();
    await create(net, table, { code: 'a', name: 'old', size: 5 });
    const columns = [
      { position: 2, target_column: 'code' },
      { position: 0, target_column: 'name' },
    ];
    expect(
      await load(net, table, 'new;x;a\nother;y;b\n', { file_columns: ['n', 'unused', 'c'], columns, delimiter: ';' }),
    ).toMatchObject({ inserted: 1, updated: 1 });
    expect(await shown(table)).toEqual(['a|new|5|', 'b|other||']);
  });

  it.each([
    ['MDY', '', '2/29/2024', 'MM/DD/YYYY (or with . or - between) or YYYY-MM-DD'],
    ['DMY', '', '29.02.2024', 'DD.MM.YYYY (or with / or - between) or YYYY-MM-DD'],
    ['DMY', '', '29-2-2024', 'DD.MM.YYYY (or with / or - between) or YYYY-MM-DD'],
    ['ISO', '', '2024-02-29', 'YYYY-MM-DD'],
    ['MDY', '', '2024-02-29', 'MM/DD/YYYY (or with . or - between) or YYYY-MM-DD'],
    ['ISO', 'DD.MM.YYYY', '29.2.2024', 'DD.MM.YYYY'],
    ['ISO', 'YYYY/MM/DD', '2024/02/29', 'YYYY/MM/DD'],
    ['ISO', 'DD Mon YYYY', '29 Feb 2024', 'DD Mon YYYY'],
    ['ISO', 'YYYYMMDD', '20240229', 'YYYYMMDD'],
  ])('reads dates in style %s, format %j: %s', async (date_style, date_format, text, form) => {
    const { table } = await givenTable([
      { name: 'day', data_type: 'date' },
      { name: 'at', data_type: 'datetime' },
    ]);
    const columns = ['code', 'name', 'day'].map((target_column, position) => ({
      position,
      target_column,
      date_format: position === 2 ? date_format : '',
    }));
    const options = { file_columns: ['code', 'name', 'day'], columns, date_style };
    expect((await load(net, table, `a,n,${text}\n`, options)).rejections).toEqual([]);
    expect((await list(table))[0].day).toBe('2024-02-29');
    const bad = await load(net, table, 'b,n,31/31/2024\nc,n,today\nd,n,2023-02-29\n', options);
    expect(bad.rejections.map((each) => each.message)).toEqual(Array(3).fill(`day must be a date, ${form}`));
  });

  it.each<[string, string | Buffer, RegExp]>([
    ['a short row', 'a,1,,\nb,2\n', /Line 2 .*4 cells/],
    ['a long row', 'a,1,,\nb,2,,,,\n', /Line 2/],
    ['an open quote', 'a,"1,,\nb,2,,\n', /quotes/],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0x2c, 0xff, 0xfe, 0x2c, 0x2c, 0x0a]), /UTF-8/],
    ['U+0000', 'a,\u0000,,\n', /UTF-8/],
  ])('says that a file with %s is none', async (_name, csv, message) => {
    const { table } = await givenTable();
    const result = await load(net, table, csv, { file_columns });
    expect(result).toMatchObject({ ...zero, status: 'failed', errors: [expect.stringMatching(message)] });
    expect(await shown(table)).toEqual([]);
  });

  it('refuses options that make no sense', async () => {
    const { table } = await givenTable();
    const options = { file_columns };
    const kinds = async (more: object) => (await failureOf(load(net, table, '', { ...options, ...more }))).kind;
    expect(await kinds({ pattern: 'x' })).toBe('bad_request');
    expect(await kinds({ delimiter: ';;' })).toBe('bad_request');
    expect(await kinds({ delimiter: "'", quote: "'" })).toBe('bad_request');
    expect(await kinds({ date_style: 'YMD' })).toBe('bad_request');
    expect(await kinds({ columns: [{ position: 9, target_column: 'code' }] })).toBe('validation_failed');
    expect(await kinds({ columns: [{ position: 0, target_column: 'svc_sk' }] })).toBe('validation_failed');
    expect(await kinds({ columns: [{ position: 0, target_column: 'name' }] })).toBe('validation_failed');
    expect((await failureOf(load(net, 4711, '', options))).kind).toBe('not_found');
    expect(await load(net, table, "a'b'1''\n", { ...options, delimiter: "'" })).toMatchObject({
      inserted: 0,
      status: 'failed',
    });
    expect(await load(net, table, 'a\\b\\1\\A\n', { ...options, delimiter: '\\' })).toMatchObject({ inserted: 1 });
  });

  it('adds to a table without a key, and only that', async () => {
    const last = nextId();
    await deploy(net, [{ id: last, columns: [{ name: 'x', data_type: 'integer' }] }]);
    expect(await load(net, last, '1\n1\n', { file_columns: ['x'] })).toMatchObject({ inserted: 2 });
    expect((await failureOf(load(net, last, '1\n', { file_columns: ['x'], pattern: 'full' }))).kind).toBe(
      'validation_failed',
    );
  });

  it('lets a table refer to itself within one file', async () => {
    const table = nextId();
    await deploy(net, [
      {
        id: table,
        columns: [
          { name: 'id', data_type: 'integer', is_primary_key: true },
          { name: 'up', data_type: 'integer', foreign_key_table_id: table },
        ],
      },
    ]);
    await create(net, table, { id: 1 });
    expect(await load(net, table, '4,3\n3,2\n2,1\n', { file_columns: ['id', 'up'] })).toMatchObject({
      inserted: 3,
      errors: [],
    });
    expect((await load(net, table, '5,6\n', { file_columns: ['id', 'up'] })).rejections[0]?.message).toMatch(
      /must refer/,
    );
  });

  it('does not delete rows that others refer to', async () => {
    const { table, groups } = await givenTable();
    await load(net, table, 'a,1,,A\n', { file_columns });
    const result = await load(net, groups, 'B\n', { file_columns: ['id'], pattern: 'full', allow_mass_delete: true });
    expect([result.status, result.errors[0]]).toEqual(['failed', expect.stringMatching(/still referred to/)]);
  });
});

describe('an export', () => {
  it('loads as the same rows', async () => {
    const { table } = await givenTable([
      { name: 'note', data_type: 'text' },
      { name: 'amount', data_type: 'decimal', length: 20, scale: 4 },
      { name: 'at', data_type: 'datetime' },
      { name: 'open', data_type: 'boolean' },
      { name: 'j', data_type: 'json' },
    ]);
    await create(net, table, {
      code: 'a',
      name: 'x',
      note: '',
      amount: '12345678901234.5678',
      at: '2024-01-01T00:00:00.123Z',
      open: false,
      j: { a: 1.5 },
    });
    await create(net, table, { code: 'b', name: '"q",\n', note: null, j: null });
    const { columns, text, rows } = await read(net, table);
    expect([rows, columns]).toEqual([
      2,
      [
        'svc_sk',
        'svc_created_at',
        'svc_updated_at',
        'code',
        'name',
        'size',
        'grp',
        'note',
        'amount',
        'at',
        'open',
        'j',
      ],
    ]);
    const body = text.slice(text.indexOf('\n') + 1);
    const own = columns.flatMap((target_column, position) =>
      target_column.startsWith('svc_') ? [] : [{ position, target_column }],
    );
    expect(await load(net, table, body, { file_columns: columns, columns: own, pattern: 'full' })).toMatchObject({
      ...zero,
      unchanged: 2,
      errors: [],
    });
  });
});
