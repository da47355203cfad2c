import type { ImportTable } from '../queries.ts';
import type { Mapping } from './mapping.ts';

/** What one has chosen in the wizard so far. */
export type Draft = {
  file: File | undefined;
  pattern: ImportTable['pattern'];
  rejectsRows: boolean;
  hasHeader: boolean;
  /**
   * Where the mapping comes from: `guess`, `last`, or the id of a saved one; else what fits best.
   */
  source: string | undefined;
  /** The mapping as it was changed here. */
  mapping: Mapping | undefined;
};
