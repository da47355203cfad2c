import { load, rejected } from '../files.ts';
import { caller, create, deploy, failureOf } from '../given.ts';
import { list, net, nextId, overLoads } from './loads.ts';

overLoads();

type Way = { trim?: boolean; default_value?: string; lookup?: string; date_format?: string };

const from = (ways: Record<string, Way>) =>
  Object.entries(ways).map(([target_column, way], position) => ({ position, target_column, ...way }));
const named = (ways: Record<string, Way>) => ({ file_columns: Object.keys(ways), columns: from(ways) });

async function givenMeasures() {
  const table = nextId();
  const columns = [
    { name: 'code', length: 10, is_primary_key: true },
    { name: 'amount', data_type: 'decimal', scale: 2, length: 12 },
    { name: 'pieces', data_type: 'integer' },
    { name: 'day', data_type: 'date' },
    { name: 'at', data_type: 'datetime' },
    { name: 'kind', length: 6, is_required: true, valid_values: ['small', 'large'] },
  ];
  await deploy(net, [{ id: table, columns }]);
  return table;
}

describe('a cell', () => {
  it('is trimmed and filled by a default where the load says so, before the rules of its column', async () => {
    const table = await givenMeasures();
    const ways = named({ code: { trim: true }, kind: { trim: true, default_value: 'small' }, pieces: {} });
    const result = await load(net, table, ' a\t,,1\nb, large ,2\n"c\u00a0","  ",3\n', ways);
    expect(result).toMatchObject({ status: 'completed', inserted: 3 });
    const rows = (await list(table)).map((row: Record<string, unknown>) => [row.code, row.kind]);
    expect(rows).toEqual([
      ['a', 'small'],
      ['b', 'large'],
      ['c', 'small'],
    ]);
    const plain = named({ code: {}, kind: {}, pieces: {} });
    const bad = await load(net, table, 'd, large,1\n', plain);
    expect(bad.rejections).toEqual([
      { row: 1, column: 'kind', value: ' large', message: 'kind must be one of small, large' },
    ]);
    const blank = await load(net, table, ' ,large,1\n', named({ code: { trim: true }, kind: {}, pieces: {} }));
    expect(blank.rejections.map(({ message }) => message)).toEqual(["code can't be blank"]);
  });

  it('that can not be read is rejected with the form that the file has', async () => {
    const table = await givenMeasures();
    const ways = named({
      code: {},
      kind: {},
      amount: {},
      pieces: {},
      day: {},
      at: { date_format: 'DD.MM.YY HH24:MI' },
    });
    const options = { ...ways, delimiter: ';', decimal_separator: ',', date_style: 'DMY' };
    const { rejections } = await load(net, table, 'a;small;1.5;1,5;31.02.2024;2024\n', options);
    expect(rejections.map(({ message }) => message)).toEqual([
      'amount must be a decimal number, written as 1.234,56',
      'pieces must be an integer from -2147483648 to 2147483647, written as 1.234',
      'day must be a date, DD.MM.YYYY (or with / or - between) or YYYY-MM-DD',
      'at must be a date and time, DD.MM.YY HH24:MI',
    ]);
    const american = { ...ways, delimiter: ';', decimal_separator: '.', date_style: 'MDY' };
    const other = await load(net, table, 'a;small;1,5;1;31.01.2024;\n', american);
    expect(other.rejections.map(({ message }) => message)).toEqual([
      'amount must be a decimal number, written as 1,234.56',
      'day must be a date, MM/DD/YYYY (or with . or - between) or YYYY-MM-DD',
    ]);
    const places = await load(net, table, 'a;small;1,555;1;;\n', options);
    expect(places.rejections.map(({ message }) => message)).toEqual(['amount must have at most 2 decimal places']);
  });

  it.each([
    [',', '1.234,50', '1.000'],
    [',', '1234,5', '1000'],
    [',', "1'234,50", '1 000'],
    [',', '+1\u00a0234,5', '1.000'],
    ['.', '1,234.50', '1,000'],
    ['.', '1234.5', '1000'],
    ['', '1234.50', '1000'],
  ])('holds numbers with the decimal separator %j: %s', async (decimal_separator, amount, pieces) => {
    const table = await givenMeasures();
    const ways = named({ code: {}, kind: {}, amount: {}, pieces: {} });
    const options = { ...ways, delimiter: ';', decimal_separator };
    const result = await load(net, table, `a;small;${amount};${pieces}\n`, options);
    expect(result.rejections).toEqual([]);
    expect((await list(table))[0]).toMatchObject({ amount: 1234.5, pieces: 1000 });
  });

  it.each([
    [',', '1.5'],
    [',', '1.23.456'],
    [',', '1,2,3'],
    ['.', '1,5'],
    ['.', '1.234,5'],
    ['', '1,234.5'],
  ])('with the decimal separator %j is not guessed at: %s', async (decimal_separator, amount) => {
    const table = await givenMeasures();
    const options = { ...named({ code: {}, kind: {}, amount: {} }), delimiter: ';', decimal_separator };
    const { rejections } = await load(net, table, `a;small;${amount}\n`, options);
    const form = { ',': ', written as 1.234,56', '.': ', written as 1,234.56' }[decimal_separator] ?? '';
    expect(rejections).toEqual([
      { row: 1, column: 'amount', value: amount, message: `amount must be a decimal number${form}` },
    ]);
  });

  it.each([
    ['DD.MM.YY', '29.02.24', '2024-02-29'],
    ['DD.MM.YY', '01.03.70', '1970-03-01'],
    ['FMDD. Month YYYY', '9. february 2024', undefined],
    ['DD-Month-YYYY', '29-February-2024', '2024-02-29'],
    ['Dy, DD Mon YYYY', 'Thu, 29 Feb 2024', '2024-02-29'],
    ['DD Mon YYYY', '29 Anf 2024', undefined],
    ['MM/DD/YYYY HH12:MI AM', '2/29/2024 11:15 pm', '2024-02-29'],
  ])('is read by the pattern %s: %s', async (date_format, text, day) => {
    const table = await givenMeasures();
    const result = await load(net, table, `a;small;${text}\n`, {
      ...named({ code: {}, kind: {}, day: { date_format } }),
      delimiter: ';',
    });
    if (day === undefined && !/FM/.test(date_format))
      expect(result.rejections).toMatchObject([{ value: text, message: `day must be a date, ${date_format}` }]);
    else expect([result.rejections, (await list(table))[0]?.day]).toEqual([[], day ?? '2024-02-09']);
  });

  it.each([
    ['DD.MM.YYYY HH24:MI', '29.02.2024 7:05', '2024-02-29T07:05:00.000Z'],
    ['MM/DD/YYYY HH12:MI:SS AM', '02/29/2024 12:00:01 AM', '2024-02-29T00:00:01.000Z'],
    ['MM/DD/YYYY HH:MI P.M.', '02/29/2024 12:30 p.m.', '2024-02-29T12:30:00.000Z'],
    ['YYYY-MM-DD"T"HH24:MI:SS.MSTZH:TZM', '2024-02-29T10:00:00.25+02:00', '2024-02-29T08:00:00.250Z'],
    ['YYYYMMDD', '20240229', '2024-02-29T00:00:00.000Z'],
    ['YYYYMMDDHH24MISSMSTZH', '20240229100000250+2', '2024-02-29T08:00:00.250Z'],
    ['DDMonYYYY HH12AM:MI', '29Feb2024 7PM:05', '2024-02-29T19:05:00.000Z'],
    ['YYYY-DD-MM', '2024-02-03T00:00:00.000Z', '2024-02-03T00:00:00.000Z'],
  ])('is an instant by the pattern %s: %s', async (date_format, text, at) => {
    const table = await givenMeasures();
    const ways = named({ code: {}, kind: {}, at: { date_format } });
    expect((await load(net, table, `a,small,${text}\n`, ways)).rejections).toEqual([]);
    expect((await list(table))[0].at).toBe(at);
  });

  it.each([
    ['DDMMYYYY', '1122024'],
    ['DDMMYY', '11224'],
    ['YYYYMMDD', '2024111'],
    ['FMDDFMMMFMYYYY', '1122024'],
    ['DD""MM.YYYY', '112.2024'],
    ['DD"0"MM.YYYY', '1011.2024'],
  ])('is not guessed at where nothing parts its numbers: %s, %s', async (date_format, text) => {
    const table = await givenMeasures();
    const { rejections } = await load(
      net,
      table,
      `a,small,${text}\n`,
      named({ code: {}, kind: {}, day: { date_format } }),
    );
    expect(rejections).toEqual([{ row: 1, column: 'day', value: text, message: `day must be a date, ${date_format}` }]);
  });

  it.each([
    ['YYYYMMDDHH24MI', '20240229705'],
    ['DD.MM.YYYY HH12MIAM', '29.02.2024 705AM'],
    ['YYYYMMDD HH24:MI:SSMS', '20240229 10:00:0025'],
    ['YYYYMMDD HH24:MITZHTZM', '20240229 10:00+200'],
  ])('of an instant is not guessed at where nothing parts its numbers: %s, %s', async (date_format, text) => {
    const table = await givenMeasures();
    const { rejections } = await load(
      net,
      table,
      `a,small,${text}\n`,
      named({ code: {}, kind: {}, at: { date_format } }),
    );
    expect(rejections).toMatchObject([{ row: 1, column: 'at', value: text }]);
  });

  it.each([
    ['YYYY-DD-MM', '2024-02-03', '2024-03-02'],
    ['YYYY-DD-MM', '2024-02-03T00:00:00.000Z', '2024-02-03'],
    ['DD.MM.YYYY', '2024-02-03T00:00:00.000Z', '2024-02-03'],
    ['DD.MM.YYYY', '1.2.2024', '2024-02-01'],
    ['YYYYMMDD', '2024-02-03', '2024-02-03'],
  ])(
    'that jobs recognised as a date is one, whatever the pattern for texts: %s, %s',
    async (date_format, text, day) => {
      const table = await givenMeasures();
      const ways = named({ code: {}, kind: {}, day: { date_format } });
      expect((await load(net, table, `a,small,${text}\n`, ways)).rejections).toEqual([]);
      expect((await list(table))[0].day).toBe(day);
      const broken = await load(
        net,
        table,
        'b,small,2024-02-30T00:00:00.000Z\nc,small,2024-02-03T00:00:01.000Z\n',
        ways,
      );
      expect(broken.rejections.map(({ row, value }) => [row, value])).toEqual([
        [1, '2024-02-30T00:00:00.000Z'],
        [2, '2024-02-03T00:00:01.000Z'],
      ]);
    },
  );
});

describe('a load that looks records up', () => {
  const regions = async () => {
    const groups = nextId();
    const table = groups + 1;
    const columns = [
      { name: 'id', data_type: 'integer', is_primary_key: true },
      { name: 'name', length: 20 },
      { name: 'iso', length: 3 },
    ];
    await deploy(net, [
      { id: groups, name: 'Regions', columns },
      {
        id: table,
        columns: [
          { name: 'code', length: 10, is_primary_key: true },
          { name: 'region', data_type: 'integer', foreign_key_table_id: groups },
          { name: 'origin', data_type: 'integer', foreign_key_table_id: groups },
        ],
      },
    ]);
    const all = [
      [1, 'North', 'N'],
      [2, 'South', 'S'],
      [3, 'East', 'E'],
      [4, 'East', 'X'],
    ];
    for (const [id, name, iso] of all) await create(net, groups, { id, name, iso });
    return { groups, table };
  };

  it('finds them by the display column of their table, or by the named column', async () => {
    const { table } = await regions();
    const ways = named({ code: {}, region: { lookup: '', trim: true }, origin: { lookup: 'ISO', default_value: 'S' } });
    const result = await load(net, table, 'a,North,X\nb, South ,\nc,,E\n', ways);
    expect(result).toMatchObject({ status: 'completed', inserted: 3, rejections: [] });
    const shown = (await list(table)).map((row: Record<string, unknown>) => [row.code, row.region, row.origin]);
    expect(shown).toEqual([
      ['a', 1, 4],
      ['b', 2, 2],
      ['c', null, 3],
    ]);
    expect(await load(net, table, 'a,North,X\nb, South ,\nc,,E\n', ways)).toMatchObject({ unchanged: 3 });
  });

  it('rejects rows that name none or several, with the value that the file has', async () => {
    const { table } = await regions();
    const ways = named({ code: {}, region: { lookup: '' } });
    const options = { ...ways, on_error: 'reject_rows', load_id: 'looked-up' };
    const result = await load(net, table, 'a,North\nb,East\nc,Nowhere\nd,1\n', options);
    expect([result.status, result.inserted, result.rejections]).toEqual([
      'completed_with_errors',
      1,
      [
        {
          row: 2,
          column: 'region',
          value: 'East',
          message: 'region is the name of several records of Regions; give their key instead',
        },
        { row: 3, column: 'region', value: 'Nowhere', message: 'region must be the name of a record of Regions' },
        { row: 4, column: 'region', value: '1', message: 'region must be the name of a record of Regions' },
      ],
    ]);
    expect((await rejected(net, 'looked-up')).split('\n')[1]).toMatch(/^b,East,2,/);
  });

  it('finds them in the file itself when a table refers to itself, and as the file renames them', async () => {
    const table = nextId();
    const columns = [
      { name: 'id', data_type: 'integer', is_primary_key: true },
      { name: 'name', length: 20 },
      { name: 'parent', data_type: 'integer', foreign_key_table_id: table },
    ];
    await deploy(net, [{ id: table, name: 'Tree', columns }]);
    const ways = named({ id: {}, name: {}, parent: { lookup: 'name' } });
    const parents = async () =>
      (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=id`)).body.data.map(
        (row: Record<string, unknown>) => [row.id, row.name, row.parent],
      );
    expect((await load(net, table, '1,root,\n2,leaf,branch\n3,branch,root\n', ways)).rejections).toEqual([]);
    expect(await parents()).toEqual([
      [1, 'root', null],
      [2, 'leaf', 3],
      [3, 'branch', 1],
    ]);
    const renamed = await load(net, table, '1,stem,\n4,twig,stem\n5,bud,branch\n6,moss,root\nx,bad,\n', {
      ...ways,
      on_error: 'reject_rows',
    });
    expect(renamed.rejections.map(({ row, column }) => [row, column])).toEqual([
      [4, 'parent'],
      [5, 'id'],
    ]);
    expect((await parents()).slice(3)).toEqual([
      [4, 'twig', 1],
      [5, 'bud', 3],
    ]);
    const full = await load(net, table, '1,stem,\n2,leaf,branch\n', { ...ways, pattern: 'full' });
    expect(full.rejections).toMatchObject([{ row: 2, message: 'parent must be the name of a record of Tree' }]);
  });

  it('does so for large files and empty tables too', async () => {
    const { table } = await regions();
    const rows = Array.from({ length: 3000 }, (_, i) => `r${i},${i % 2 ? 'North' : 'South'}\n`).join('');
    const result = await load(net, table, rows, named({ code: {}, region: { lookup: '' } }));
    expect(result).toMatchObject({ status: 'completed', inserted: 3000 });
  });

  it('is refused where nothing can be looked up, and without the right to view the referenced table', async () => {
    const { table, groups } = await regions();
    const refused = await failureOf(
      load(net, table, '', named({ code: { lookup: '' }, region: { lookup: 'nothing' } })),
    );
    expect([refused.kind, refused.errors]).toEqual([
      'validation_failed',
      [
        'code is no foreign key; nothing can be looked up for it.',
        "region can't be looked up by nothing, which is not a column of Regions.",
      ],
    ]);
    net.rights.set(77, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'table_definition', resource_id: table }],
    });
    const editor = { ...caller, userId: 77 };
    const ways = named({ code: {}, region: { lookup: '' } });
    expect((await failureOf(load(net, table, 'a,North\n', ways, editor))).kind).toBe('forbidden');
    expect((await load(net, table, 'a,1\n', named({ code: {}, region: {} }), editor)).status).toBe('completed');
    expect(groups).toBeGreaterThan(0);
  });
});

describe('a mapping before there is a file', () => {
  const column = (name: string, data_type: string, rest = {}) => ({ name, data_type, valid_values: [], ...rest });
  const check = (sources: (Way & { target_column: string })[], style = {}) =>
    net.jobs.CheckColumnSources(caller, {
      columns: [
        column('code', 'string', { length: 3 }),
        column('amount', 'decimal', { length: 5, scale: 2 }),
        column('day', 'date'),
        column('kind', 'varchar', { valid_values: ['a', 'b'] }),
      ],
      sources,
      ...style,
    });

  it('is checked by the readings and rules of a load', async () => {
    const { problems } = await check(
      [
        { target_column: 'code', default_value: 'four' },
        { target_column: 'amount', default_value: '1.234,5', date_format: '' },
        { target_column: 'day', default_value: '31.01.2024', date_format: 'DD.MM.YYYY' },
        { target_column: 'kind', default_value: 'c' },
        { target_column: 'kind', date_format: 'DD.MM.YYYY' },
        { target_column: 'day', date_format: '(a+)+$' },
        { target_column: 'day', default_value: ' ' },
        { target_column: 'unknown', default_value: 'x' },
      ],
      { decimal_separator: ',' },
    );
    expect(problems).toEqual([
      'DD.MM.YYYY is no date format for kind.',
      '(a+)+$ is no date format for day.',
      'The default for day is blank.',
      'The default for code is too long (maximum is 3 characters)',
      'The default for amount must have at most 3 digits before the decimal point',
      'The default for kind must be one of a, b',
    ]);
    expect(
      (await check([{ target_column: 'amount', default_value: '12,50' }], { decimal_separator: ',' })).problems,
    ).toEqual([]);
    expect((await check([{ target_column: 'amount', default_value: '1,5' }])).problems).toEqual([
      'The default for amount must be a decimal number',
    ]);
    expect((await check([{ target_column: 'day', default_value: 'x', date_format: 'YYYYMMDD' }])).problems).toEqual([
      'The default for day must be a date, YYYYMMDD',
    ]);
    const odd = "a'; drop table x; --\\";
    expect((await check([{ target_column: 'code', default_value: odd }])).problems).toHaveLength(1);
  });
});
