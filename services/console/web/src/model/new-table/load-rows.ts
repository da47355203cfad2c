// Loads the file of a new table into it: checked by a dry run first, as in the wizard, and applied
// when no row is rejected. Else people decide.
import { client } from '../../api/client.ts';
import type { Table } from '../../api/queries.ts';
import { isNeedless, type Mapping, withTarget } from '../../imports/columns/mapping.ts';
import { mappingOf } from '../../imports/columns/use-mapping.ts';
import { type ImportDetails, isOpen } from '../../imports/queries.ts';
import type { Sample } from '../../imports/sample/read-sample.ts';
import { startDryRun } from '../../imports/sending/dry-run.ts';
import type { Sent } from '../../imports/sending/upload.ts';
import type { NewColumn } from './draft-columns.ts';

export type Load = {
  table: Pick<Table, 'id' | 'branch_id'>;
  file: File;
  sample: Exclude<Sample, { kind: 'hidden' }>;
  columns: NewColumn[];
  dateStyle: string;
  /** Rows of the table change by change requests alone. */
  isProposed: boolean;
};

type Options = {
  signal: AbortSignal;
  onProgress: (sent: Sent) => void;
  /** Called with the import once the whole file is there. */
  onSent: (importId: number) => void;
};

const pollEveryMs = 700;

/** Ends when the rows are being applied, or wait for people to decide. */
export async function loadRows(load: Load, options: Options): Promise<void> {
  const { table, file, dateStyle, isProposed } = load;
  const mapping = await mapColumns(load, options.signal);
  const importId = await startDryRun(
    {
      ...{ branchId: table.branch_id, tableId: table.id, file, pattern: 'incremental', rejectsRows: true },
      allowsMassDelete: false,
      mapping: isNeedless(mapping, dateStyle) ? undefined : mapping,
    },
    options,
  );
  options.onSent(importId);
  const [checked] = (await waitForEnd(importId, options.signal)).import_tables;
  if (checked?.metrics?.rejected === 0 && checked.metrics.inserted > 0) {
    const params = { path: { id: importId, table_id: checked.id } };
    const body = { as: isProposed ? ('change_request' as const) : ('rows' as const) };
    await client.post('/imports/{id}/tables/{table_id}/apply', { params, body });
  }
}

/** The guess of the service, with the names that the columns were given. */
async function mapColumns({ table, sample, columns }: Load, signal: AbortSignal): Promise<Mapping> {
  const body = { table_definition_id: table.id, sample: sample.text };
  const guess = mappingOf(await client.post('/import_mappings/suggest', { body, signal }), sample);
  return guess.column_mappings.reduce((mapping, { source_column: source, target_column: target }) => {
    const name = columns.find((column) => column.source === source)?.name.trim() ?? null;
    return name === target ? mapping : withTarget(mapping, source, name);
  }, guess);
}

async function waitForEnd(id: number, signal: AbortSignal): Promise<ImportDetails> {
  for (;;) {
    const given = await client.get('/imports/{id}', { params: { path: { id } }, signal });
    if (!isOpen(given)) return given;
    await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  }
}
