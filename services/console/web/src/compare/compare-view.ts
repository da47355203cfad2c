// What is compared, as the address has it: two sides, each a branch, now or as of an instant.
import { readId, readText } from '../address/view.ts';
import { type ChangeKind, changeKinds } from '../diff/change-kinds.ts';

export type Side = { branchId: number; asOf: string | undefined };

export type CompareView = {
  /** `3`, or `3@2026-03-31T22:00:00.000Z`. */
  left?: string | undefined;
  right?: string | undefined;
  /** The key of the table whose differences are shown. */
  table?: string | undefined;
  kind?: ChangeKind | undefined;
};

/** The view of an address. What cannot be read is left out. */
export function readCompareView({ left, right, table, kind }: Record<string, unknown>): CompareView {
  return {
    left: writeSide(readSide(left)),
    right: writeSide(readSide(right)),
    table: readText(table),
    kind: changeKinds.find((one) => one === kind),
  };
}

export function readSide(text: unknown): Side | undefined {
  const [branch, instant] = String(text ?? '').split('@');
  const branchId = readId(branch);
  if (branchId === undefined) return undefined;
  const time = instant === undefined ? Number.NaN : Date.parse(instant);
  return { branchId, asOf: Number.isNaN(time) ? undefined : new Date(time).toISOString() };
}

export function writeSide(side: Side | undefined): string | undefined {
  if (side === undefined) return undefined;
  return side.asOf === undefined ? String(side.branchId) : `${side.branchId}@${side.asOf}`;
}
