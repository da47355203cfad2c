// The rows of the bench, the same in every run: a list of products, each of one of 250 categories.

/** A column as the API defines it, with its counterpart in the bare table. */
type BenchColumn = {
  name: string;
  data_type: string;
  sql: string;
  length?: number;
  scale?: number;
  is_primary_key?: boolean;
  is_required?: boolean;
};

export const categoryColumns = [
  { name: 'id', data_type: 'integer', is_primary_key: true, is_required: true },
  { name: 'name', data_type: 'string', length: 40 },
];
export const categories = 250;

/** `category_id` refers to the categories. */
export const columns: BenchColumn[] = [
  {
    name: 'code',
    data_type: 'string',
    length: 12,
    is_primary_key: true,
    is_required: true,
    sql: 'varchar(12) not null unique',
  },
  { name: 'name', data_type: 'string', length: 80, is_required: true, sql: 'varchar(80) not null' },
  { name: 'category_id', data_type: 'integer', is_required: true, sql: 'integer not null references category' },
  { name: 'price', data_type: 'decimal', length: 12, scale: 2, sql: 'numeric(12,2)' },
  { name: 'stock', data_type: 'integer', sql: 'integer' },
  { name: 'weight', data_type: 'double', sql: 'double precision' },
  { name: 'barcode', data_type: 'bigint', sql: 'bigint' },
  { name: 'valid_from', data_type: 'date', sql: 'date' },
  { name: 'checked_at', data_type: 'datetime', sql: 'timestamptz(3)' },
  { name: 'is_active', data_type: 'boolean', sql: 'boolean' },
  { name: 'supplier', data_type: 'string', length: 40, sql: 'varchar(40)' },
  { name: 'remark', data_type: 'string', length: 100, sql: 'varchar(100)' },
];

type Cell = string | number | boolean | null;
export type BenchRow = Record<string, Cell>;

const syllables = 'ba be bi bo da de di do fa fe fi fo ga ge gi go ka ke ki ko la le li lo ma me mi mo'.split(' ');

// Numbers that look random and are the same each time (splitmix32).
function scatter(row: number, salt: number): number {
  let x = Math.imul(row + 1, 0x9e3779b9) + Math.imul(salt, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

const word = (number: number) =>
  [0, 5, 10].map((bits) => syllables[(number >>> bits) % syllables.length] as string).join('');

/** The row of this number; its code begins with `mark`. */
export function makeRow(row: number, mark = 'P'): BenchRow {
  const day = (salt: number) => Date.UTC(2018, 0, 1) + (scatter(row, salt) % 2_500) * 86_400_000;
  return {
    code: `${mark}${String(row).padStart(9, '0')}`,
    name: `${word(scatter(row, 1))} ${word(scatter(row, 2))} ${row % 997}`,
    category_id: 1 + (scatter(row, 3) % categories),
    price: (scatter(row, 4) % 1_000_000) / 100,
    stock: scatter(row, 5) % 5_000,
    weight: (scatter(row, 6) % 100_000) / 1_000,
    barcode: 4_000_000_000_000 + scatter(row, 7),
    valid_from: new Date(day(8)).toISOString().slice(0, 10),
    checked_at: new Date(day(9) + (scatter(row, 10) % 86_400_000)).toISOString(),
    is_active: row % 3 !== 0,
    supplier: `${word(scatter(row, 11) % 4_096)} ltd`,
    remark: row % 4 === 0 ? null : `seen in aisle ${scatter(row, 12) % 300}, shelf ${word(scatter(row, 13) % 900)}`,
  };
}

/** The first `rows` of them as CSV with a header. */
export function makeCsv(rows: number): Buffer {
  const parts = [Buffer.from(`${columns.map(({ name }) => name).join(',')}\n`)];
  const rowsPerPart = 10_000;
  for (let from = 0; from < rows; from += rowsPerPart) {
    let lines = '';
    for (let row = from; row < Math.min(rows, from + rowsPerPart); row += 1)
      lines += `${Object.values(makeRow(row)).map(csvCell).join(',')}\n`;
    parts.push(Buffer.from(lines));
  }
  return Buffer.concat(parts);
}

/** Every so many of the rows, with one numeric column higher by `more`, as CSV of that and what an import can't do without. */
export function makeChangedCsv(rows: number, every: number, column: 'stock' | 'weight', more: number): Buffer {
  let lines = `code,name,category_id,${column}\n`;
  for (let row = 0; row < rows; row += every) {
    const { code, name, category_id, ...made } = makeRow(row);
    lines += `${code},${name},${category_id},${(made[column] as number) + more}\n`;
  }
  return Buffer.from(lines);
}

const csvCell = (cell: Cell) => (typeof cell === 'string' && cell.includes(',') ? `"${cell}"` : (cell ?? ''));

/** The categories as CSV with a header. */
export function makeCategoryCsv(): Buffer {
  const ids = Array.from({ length: categories }, (_, place) => place + 1);
  return Buffer.from(`id,name\n${ids.map((id) => `${id},${word(scatter(id, 20))}\n`).join('')}`);
}
