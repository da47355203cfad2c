// What of a request deserves a second look, before its rows are read.
import type { Schemas } from '../../api/client.ts';

type Table = Pick<Schemas['ChangeRequestTable'], 'id' | 'name' | 'created' | 'updated' | 'deleted'>;

export type Risks = {
  /** Rows that would be deleted, of all tables. */
  deletions: number;
  /** Tables of which a considerable part of the rows changes, the largest part first. */
  shares: { table: string; share: number }[];
};

// Smaller parts are what corrections look like.
const smallestShare = 0.05;

/** `rowCounts`: how many rows the tables have, as far as that is known. */
export function risksOf(tables: readonly Table[], rowCounts: ReadonlyMap<number, number | undefined>): Risks {
  const shares = tables.map(({ id, name, updated, deleted }) => {
    const rows = rowCounts.get(id) ?? 0;
    return { table: name, share: rows > 0 ? Math.min((updated + deleted) / rows, 1) : 0 };
  });
  return {
    deletions: tables.reduce((sum, { deleted }) => sum + deleted, 0),
    shares: shares.filter(({ share }) => share >= smallestShare).toSorted((a, b) => b.share - a.share),
  };
}
