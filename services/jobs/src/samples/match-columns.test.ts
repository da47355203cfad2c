import { matchColumns, type TargetColumn } from './match-columns.ts';
import { readName, similarityTo } from './name-similarity.ts';
import { readSample } from './read-sample.ts';

const column = (name: string, data_type = 'string', rest: Partial<TargetColumn> = {}): TargetColumn => ({
  name,
  data_type,
  is_primary_key: false,
  valid_values: [],
  ...rest,
});
const similarity = (one: string, other: string) => similarityTo([readName(other)])(readName(one))[0];
const suggest = async (text: string, targets: TargetColumn[], hasHeader = true) =>
  matchColumns(await readSample(text, { hasHeader }), targets, hasHeader);
const targetsOf = ({ entries }: Awaited<ReturnType<typeof suggest>>) => entries.map(({ entry }) => entry.target_column);

describe('the similarity of names', () => {
  it.each([
    ['customer_id', 'Customer ID', 0.97],
    ['customerId', 'customer-id', 0.97],
    ['Straße', 'STRASSE', 0.97],
    ['Na\u0308me', 'näme', 1],
    ['code country', 'Country Code', 0.95],
    ['City', 'city_name', 0.7],
  ])('of %s and %s is %d', (one, other, expected) => {
    expect([similarity(one, other), similarity(other, one)]).toEqual([expected, expected]);
  });

  it('is low for unrelated names', () => {
    for (const [one, other] of [
      ['name', 'number'],
      ['code', 'mode'],
      ['', 'x'],
      ['country code', 'currency code'],
    ] as const)
      expect(similarity(one, other)).toBeLessThan(0.75);
  });
});

describe('a thousand names beside a table of two hundred columns', () => {
  it('compares the values of only the likeliest twenty', async () => {
    let looks = 0;
    const counted = (name: string) =>
      Object.defineProperty(column(name), 'data_type', {
        get: () => {
          looks += 1;
          return 'date';
        },
      });
    const name = (i: number) => `${'customer_number_of_the_'.repeat(2)}${i}`;
    const targets = Array.from({ length: 200 }, (_, i) => counted(name(i)));
    const header = Array.from({ length: 1000 }, (_, i) => `${name(i)} x`);
    const found = await suggest(`${header.join()}\n${header.map(() => 'much').join()}\n`, targets);
    expect(targetsOf(found).every((target) => target === null)).toBe(true);
    expect(looks).toBeLessThanOrEqual(1000 * 20 * 20);
  });
});

describe('a match', () => {
  const table = [
    column('customer_no', 'string', { is_primary_key: true, length: 10 }),
    column('first_name'),
    column('amount', 'decimal'),
    column('valid_from', 'date'),
    column('changed_at', 'datetime'),
  ];

  it('matches names in any spelling, each once, and reports the rest', async () => {
    const found = await suggest('CustomerNo;First Name;Amount;Remark;svc_sk\n1;a;2;x;5\n', table);
    expect(targetsOf(found)).toEqual(['customer_no', 'first_name', 'amount', null, null]);
    expect(found.unmatchedTargets).toEqual(['valid_from', 'changed_at']);
    expect(found.entries.map(({ confidence }) => confidence)).toEqual([0.97, 0.97, 1, 0, 0]);
  });

  it('does not match a similar name whose values contradict it', async () => {
    const found = await suggest('customer_no,amounts\n1,much\n', table);
    expect(targetsOf(found)).toEqual(['customer_no', null]);
    const equal = await suggest('customer_no,amount\n1,much\n', table);
    expect(equal.entries[1]).toMatchObject({ confidence: 1, notes: ['Its values do not look like decimal.'] });
  });

  it('reads dates, decimals and blanks as the sample proves them', async () => {
    const text =
      'customer_no;amount;valid_from;changed_at\n1; 1.234,50 ;31.01.2024;01.02.2024 8:05\n2;5,1;01.02.2024;02.02.2024 9:15\n';
    const { style, entries, questions } = await suggest(text, table);
    expect([style.dateStyle, style.decimalSeparator, questions]).toEqual(['DMY', ',', []]);
    expect(entries.map(({ entry: { format, trim } }) => [format, trim])).toEqual([
      [null, false],
      [null, true],
      [null, false],
      ['DD.MM.YYYY HH24:MI', false],
    ]);
  });

  it('asks where day and month, or decimals and groups, are ambiguous', async () => {
    const found = await suggest('customer_no;amount;valid_from\n1;1,234;01/02/2024\n', table);
    expect(found.style).toMatchObject({ dateStyle: undefined, decimalSeparator: undefined });
    expect(found.questions).toEqual([
      'Is valid_from day or month first? Set date_style to DMY or MDY.',
      'Does amount hold decimals or groups of three digits? Set decimal_separator.',
    ]);
    expect((await suggest('customer_no;first_name\n1;01/02/2024\n', table)).questions).toEqual([]);
    expect((await suggest('customer_no;changed_at\n1;01/02/2024\n', table)).questions).toEqual([
      'Is changed_at day or month first? Set its format to DD/MM/YYYY or MM/DD/YYYY.',
    ]);
    expect((await suggest('customer_no;changed_at\n1;01/02/2024 3:15 PM\n', table)).questions).toEqual([
      'Is changed_at day or month first? Set its format to DD/MM/YYYY HH12:MI AM or MM/DD/YYYY HH12:MI AM.',
    ]);
  });

  it('gives columns their own patterns where the file has no single style, and timestamps of days midnight', async () => {
    const found = await suggest('customer_no;valid_from;changed_at\n1;31.01.2024;01/31/2024\n', table);
    expect(found.entries.map(({ entry }) => entry.format)).toEqual([null, 'DD.MM.YYYY', 'MM/DD/YYYY']);
    const days = await suggest('customer_no;valid_from;changed_at\n1;31.01.2024;2024-01-31\n', table);
    expect(days.entries.map(({ entry }) => entry.format)).toEqual([null, null, 'YYYY-MM-DD']);
  });

  it('looks up names where the table has a foreign key', async () => {
    const countries = {
      name: 'Countries',
      columns: [
        column('code', 'string', { is_primary_key: true, length: 2 }),
        column('alpha3', 'string', { length: 3 }),
        column('name'),
        column('capital'),
      ],
    };
    const targets = [
      column('id', 'integer', { is_primary_key: true }),
      column('country_code', 'string', { refersTo: countries }),
    ];
    const names = await suggest('id,Country\n1,Germany\n', targets);
    expect(names.entries[1]?.entry).toMatchObject({ target_column: 'country_code', lookup: 'name' });
    const chosen = { ...countries, lookup_display_column_id: 7 };
    const shown = { ...chosen, columns: [...countries.columns, column('label', 'string', { id: 7 })] };
    const byChoice = [targets[0] as TargetColumn, column('country_code', 'string', { refersTo: shown })];
    expect((await suggest('id,Country\n1,Germany\n', byChoice)).entries[1]?.entry.lookup).toBe(true);
    const keys = await suggest('id,Country\n1,DE\n', targets);
    expect(keys.entries[1]?.entry).toMatchObject({ target_column: 'country_code', lookup: false });
    const other = await suggest('id,Country capital\n1,Berlin\n', targets);
    expect(other.entries[1]?.entry).toMatchObject({ target_column: 'country_code', lookup: 'capital' });
  });

  it('is found among the maximum of columns, and long names match nothing', async () => {
    const many = Array.from({ length: 200 }, (_, i) => column(`column_of_the_table_${i}`));
    const header = Array.from({ length: 1000 }, (_, i) => `Column of the file ${i}`);
    header[7] = 'Column of the Table 150';
    header[8] = 'column_of_the_table_'.repeat(100);
    const found = await suggest(`${header.join(';')}\n`, many);
    expect([found.entries[7]?.entry.target_column, found.entries[8]?.entry.target_column]).toEqual([
      'column_of_the_table_150',
      null,
    ]);
  });

  it('follows the order of columns without a header, when the numbers agree', async () => {
    const two = [column('a'), column('b', 'integer')];
    const found = await suggest('x,1\n', two, false);
    expect(found.entries.map(({ entry }) => [entry.source_column, entry.target_column])).toEqual([
      ['1', 'a'],
      ['2', 'b'],
    ]);
    expect(targetsOf(await suggest('x,1,2\n', two, false))).toEqual([null, null, null]);
  });
});
