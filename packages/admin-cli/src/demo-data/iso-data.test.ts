import { isoTables, toCsv } from './iso-data.ts';

describe('the ISO data', () => {
  it.each(isoTables.map((table) => [table.name, table] as const))('%s fit the columns they go into', (_name, table) => {
    const key = table.columns.findIndex((column) => column.is_primary_key);
    expect(new Set(table.rows.map((row) => row[key])).size).toBe(table.rows.length);
    for (const [place, column] of table.columns.entries()) {
      const values = table.rows.map((row) => row[place]);
      if (column.is_required) expect(values).not.toContain(null);
      if (column.length)
        expect(Math.max(...values.map((value) => String(value ?? '').length))).toBeLessThanOrEqual(column.length);
      if (column.valid_values)
        expect(column.valid_values.split('|')).toEqual(expect.arrayContaining([...new Set(values)]));
    }
  });

  it('have a country for each subdivision', () => {
    const [countries, subdivisions] = isoTables;
    const known = new Set(countries?.rows.map((row) => row[0]));
    expect(subdivisions?.rows.filter((row) => !known.has(row[1] as string))).toEqual([]);
    expect(subdivisions?.rows.length).toBeGreaterThan(5_000);
  });

  it('are written as RFC 4180 says, empty cells being null', () => {
    const table = {
      name: 'T',
      description: '',
      columns: [
        { name: 'a', data_type: 'text' },
        { name: 'b', data_type: 'text' },
      ],
      rows: [
        ['x,"y"\n', null],
        ['', 1],
      ],
    };
    expect(toCsv(table)).toBe('a,b\r\n"x,""y""\n",\r\n"",1\r\n');
  });
});
