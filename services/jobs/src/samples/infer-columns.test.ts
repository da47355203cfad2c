import { inferColumns } from './infer-columns.ts';
import { readSample } from './read-sample.ts';

const infer = async (text: string, style = {}) => inferColumns(await readSample(text, { hasHeader: true, ...style }));
const types = async (text: string, style = {}) =>
  (await infer(text, style)).columns.map(({ column: { name, data_type, length, scale } }) =>
    [name, data_type, ...(length === undefined ? [] : [length]), ...(scale === undefined ? [] : [scale])].join(' '),
  );
const column = (...cells: string[]) => `x\n${cells.join('\n')}\n`;

describe('the type of a column', () => {
  it.each([
    [['1', '20', '-3'], 'x integer'],
    [['1', '2147483648'], 'x bigint'],
    [['12345678901234567890', '1'], 'x decimal 38 0'],
    [['007', '008'], 'x string 3'],
    [['0', '10'], 'x integer'],
    [['1.50', '12.345'], 'x decimal 10 3'],
    [['1234567890.12'], 'x decimal 18 2'],
    [['1.5', '01.5'], 'x string 5'],
    [['+49301234', '0301234'], 'x string 10'],
    [['1e5', '2'], 'x string 3'],
    [['true', 'FALSE'], 'x boolean'],
    [['yes', 'no'], 'x string 3'],
    [['2024-02-29'], 'x date'],
    [['2024-02-29T10:00:00', '2024-02-29 11:30'], 'x datetime'],
    [['2024-02-29T10:00:00Z'], 'x timestamptz'],
    [['10:00', '23:59:59'], 'x time'],
    [['29.02.2024', '1.3.2024'], 'x date'],
    [['02/29/2024 1:30 PM'], 'x datetime'],
    [['01-Feb-2024'], 'x date'],
    [['13.13.2024'], 'x string 10'],
    [['2024-13-01'], 'x string 10'],
    [['6f9619ff-8b86-d011-b42d-00cf4fc964ff'], 'x uuid'],
    [['{}', '[1]'], 'x json'],
    [['{}', '{'], 'x string 2'],
    [['DE', 'FR'], 'x string 2'],
    [['Germany', 'France'], 'x string 10'],
    [['x'.repeat(4001)], 'x text'],
    [['', ''], 'x string 255'],
  ])('of %j', async (cells, expected) => {
    const text = `x;y\n${cells.map((cell) => `"${cell.replaceAll('"', '""')}";1`).join('\n')}\n`;
    expect((await types(text))[0]).toBe(expected);
  });

  it('follows the decimal separator that other columns prove', async () => {
    expect(await types('a;b\n1,5;1.234\n2,25;5.678\n')).toEqual(['a decimal 10 2', 'b integer']);
    expect(await types('a;b\n1.5;1,234\n')).toEqual(['a decimal 10 1', 'b integer']);
    const open = await infer(column('1.234', '5.678'));
    expect(open.columns[0]).toMatchObject({
      column: { data_type: 'string' },
      notes: [expect.stringContaining('decimal')],
    });
  });

  it('distinguishes day from month only if values do', async () => {
    const both = await infer('a;b\n31.01.2024;01.02.2024\n');
    expect([both.style.dateStyle, both.columns[1]?.notes]).toEqual(['DMY', []]);
    const open = await infer(column('01/02/2024', '03/04/2024'));
    expect(open.columns[0]).toMatchObject({
      column: { data_type: 'date' },
      notes: ['The sample does not tell day from month; say it in an import mapping.'],
    });
    expect((await infer('a;b\n31/01/2024;01/31/2024\n')).style.dateStyle).toBeUndefined();
  });
});

describe('a column', () => {
  it('gets a valid name, close to its own and unique', async () => {
    const header = '"Straße & Nr.";"CustomerID";"2nd";"svc_sk";"";"customerid";"Ключ";"Ä';
    const names = (await infer(`${header}"\n${'1;'.repeat(7)}1\n`)).columns.map(({ column: { name } }) => name);
    expect(names).toEqual([
      'strasse_nr',
      'customerid',
      'column_2nd',
      'column_svc_sk',
      'column_5',
      'customerid_2',
      'column_7',
      'a',
    ]);
  });

  it('is required when every row of the sample has a value', async () => {
    const { columns } = await infer('a,b,c\n1,,x\n2," ",y\n');
    expect(columns.map(({ column: { is_required } }) => is_required)).toEqual([true, false, true]);
  });
});

describe('the key', () => {
  const key = async (text: string) =>
    (await infer(text)).columns.filter(({ column }) => column.is_primary_key).map(({ column: { name } }) => name);

  it('is a unique column named like a key, else the first unique one', async () => {
    expect(await key('name,iso_code,n\nGermany,DE,1\nFrance,FR,2\n')).toEqual(['iso_code']);
    expect(await key('name,n\nGermany,1\nFrance,1\n')).toEqual(['name']);
    expect(await key('amount,day,name\n1.5,2024-01-01,a\n2.5,2024-01-02,b\n')).toEqual(['name']);
  });

  it('is two columns if none is unique, and none if no two are', async () => {
    expect(await key('country,year,n\nDE,2023,1\nDE,2024,1\nFR,2023,1\n')).toEqual(['country', 'year']);
    expect(await key('a,b\nx,1\nx,1\n')).toEqual([]);
    expect(await key('id,b\n1,2\n')).toEqual([]);
    expect(await key('id,b\n1,2\n,3\n')).toEqual(['b']);
  });
});

describe('a sample', () => {
  it('is read in each text format, and without a header', async () => {
    expect(await types('[{"a":1,"b":"x"},{"a":2}]')).toEqual(['a integer', 'b string 1']);
    expect(await types('{"a":"007"}\n{"a":"008"}\n')).toEqual(['a string 3']);
    expect(await types('1\tx\n2\ty\n', { hasHeader: false })).toEqual(['column_1 integer', 'column_2 string 1']);
  });

  it('may end in the middle of a row', async () => {
    const { columns } = await infer('a,b\n1,x\n2,y\n3');
    expect(columns.map(({ column: { is_required } }) => is_required)).toEqual([true, true]);
  });

  it.each([
    ['PK\u0003\u0004', 'A sample is text'],
    ['a,b\n1,x"y"\n', 'Row 2: a quote (") stands inside a cell'],
    ['sep=§\na§b\n1§"x"¢\n', 'quotes are not in their places'],
    ['a,b\n1,"x\n', 'never closed'],
    ['[{"a":', 'JSON'],
  ])('that is unreadable says why: %j', async (text, problem) => {
    await expect(infer(text)).rejects.toMatchObject({
      kind: 'validation_failed',
      message: expect.stringContaining(problem),
    });
  });
});
