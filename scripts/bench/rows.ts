// The rows of the bench: a plausible product list, the same in every run.

export const columns = [
  {
    name: 'code',
    data_type: 'string',
    length: 12,
    is_primary_key: true,
    is_required: true,
    sql: 'varchar(12) primary key',
  },
  { name: 'name', data_type: 'string', length: 80, is_required: true, sql: 'varchar(80) not null' },
  { name: 'category', data_type: 'string', length: 20, sql: 'varchar(20)' },
  { name: 'price', data_type: 'decimal', length: 12, scale: 2, sql: 'numeric(12,2)' },
  { name: 'stock', data_type: 'integer', sql: 'integer' },
  { name: 'valid_from', data_type: 'date', sql: 'date' },
  { name: 'is_active', data_type: 'boolean', sql: 'boolean' },
];

const categories = ['tools', 'paint', 'garden', 'lighting', 'plumbing', 'timber', 'fixings', 'flooring'];

/** CSV lines with a header; about 75 bytes a row. */
export function makeCsv(rows: number): Buffer {
  const lines = [columns.map(({ name }) => name).join(',')];
  for (let row = 0; row < rows; row++) {
    const code = `P${String(row).padStart(9, '0')}`;
    const category = categories[(row * 7) % categories.length] as string;
    const day = new Date(Date.UTC(2020, 0, 1 + (row % 2_000))).toISOString().slice(0, 10);
    const price = `${(row * 37) % 10_000}.${String((row * 13) % 100).padStart(2, '0')}`;
    lines.push(
      `${code},Product ${category} number ${row},${category},${price},${(row * 31) % 5_000},${day},${row % 3 !== 0}`,
    );
  }
  return Buffer.from(`${lines.join('\n')}\n`);
}
