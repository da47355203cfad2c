// Exports as Parquet: a group of rows at a time, nothing but the group is held. Types are those that tell most of the column's own.
import { setImmediate as pause } from 'node:timers/promises';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Cells } from './copied-rows.ts';
import type { WrittenColumn } from './written-text.ts';

const groupRows = 10_000;
const groupCharacters = 16 * 1024 * 1024;

type Kind = { element: Omit<SchemaElement, 'name'>; value: (text: string) => unknown };

/** The whole file, group by group. */
export async function* writeParquet(
  columns: readonly WrittenColumn[],
  rows: AsyncIterable<Cells[]>,
): AsyncGenerator<Uint8Array> {
  const kinds = columns.map(kindOf);
  const writer = new ByteWriter();
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name }, i) => ({ name, repetition_type: 'OPTIONAL' as const, ...(kinds[i] as Kind).element })),
  ];
  const parquet = new ParquetWriter({ writer, schema, createdBy: 'Almanac' });
  const written = () => {
    const bytes = Uint8Array.from(writer.getBytes());
    writer.index = 0; // the offset goes on
    return bytes;
  };
  let group: unknown[][] = columns.map(() => []);
  let size = 0;
  const writeGroup = () => {
    const columnData = columns.map(({ name }, i) => ({ name, data: group[i] as unknown[] }));
    parquet.write({ columnData, rowGroupSize: groupRows } as Parameters<ParquetWriter['write']>[0]);
    group = columns.map(() => []);
    size = 0;
    return written();
  };
  for await (const batch of rows)
    for (const cells of batch) {
      for (let i = 0; i < kinds.length; i += 1) {
        const cell = cells[i] ?? null;
        group[i]?.push(cell === null ? null : (kinds[i] as Kind).value(cell));
        size += cell?.length ?? 0;
      }
      if (group[0]?.length !== groupRows && size < groupCharacters) continue;
      yield writeGroup();
      await pause(); // making a group takes a while; others have their turn
    }
  if ((group[0]?.length ?? 0) > 0) yield writeGroup();
  parquet.finish();
  yield written();
}

const text: Kind = { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, value: (cell) => cell };
const moment: Kind = {
  element: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  value: (cell) => BigInt(Date.parse(cell)),
};
const whole: Kind = { element: { type: 'INT32' }, value: Number };

const kinds: Record<string, Kind> = {
  smallint: whole,
  integer: whole,
  bigint: { element: { type: 'INT64' }, value: BigInt },
  real: { element: { type: 'FLOAT' }, value: Number },
  double: { element: { type: 'DOUBLE' }, value: Number },
  boolean: { element: { type: 'BOOLEAN' }, value: (cell) => cell === 'true' },
  date: { element: { type: 'INT32', converted_type: 'DATE' }, value: (cell) => Date.parse(cell) / 86_400_000 },
  time: {
    element: {
      type: 'INT64',
      converted_type: 'TIME_MICROS',
      logical_type: { type: 'TIME', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    value: microseconds,
  },
  datetime: moment,
  timestamptz: moment,
  uuid: {
    element: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
    value: (cell) => cell,
  },
};

// Decimals without a scale of their own, or with more digits than readers take, are text: exact.
function kindOf({ dataType, precision, scale }: WrittenColumn): Kind {
  if (dataType !== 'decimal') return kinds[dataType] ?? text;
  if (precision === undefined || precision > 38) return text;
  const digits = scale ?? 0;
  return {
    element: {
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: 16,
      converted_type: 'DECIMAL',
      precision,
      scale: digits,
      logical_type: { type: 'DECIMAL', precision, scale: digits },
    },
    value: (cell) => {
      const [left = '', right = ''] = cell.split('.');
      return BigInt(left + right.padEnd(digits, '0'));
    },
  };
}

function microseconds(clock: string): bigint {
  const [hours = '', minutes = '', seconds = ''] = clock.split(':');
  const [second = '0', fraction = ''] = seconds.split('.');
  return (
    BigInt(Number(hours) * 3600 + Number(minutes) * 60 + Number(second)) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
  );
}
