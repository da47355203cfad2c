// Starts the dry run of a file: the import, its table, the upload.
import { client } from '../../api/client.ts';
import { bodyOf, type Mapping } from '../columns/mapping.ts';
import type { ImportTable } from '../queries.ts';
import { type Sent, uploadFile } from './upload.ts';

export type DryRun = {
  branchId: number;
  tableId: number;
  file: File;
  pattern: ImportTable['pattern'];
  rejectsRows: boolean;
  allowsMassDelete: boolean;
  /** The id of a saved one; undefined: the columns go by their names. */
  mapping: Mapping | number | undefined;
};

type Options = { signal: AbortSignal; onProgress: (sent: Sent) => void };

/** Answers the import once all of the file is there. One that fails before is cancelled. */
export async function startDryRun(given: DryRun, { signal, onProgress }: Options): Promise<number> {
  const { branchId, file } = given;
  const { id } = await client.post('/imports', { body: { branch_id: branchId }, signal });
  const params = { path: { id } };
  try {
    const tableId = await addTable(id, given, signal);
    await uploadFile(id, tableId, file, { signal, onProgress });
    await client.post('/imports/{id}/upload_complete', { params, signal });
    return id;
  } catch (error) {
    // Imports that are open count: at most ten of an account are.
    await client.post('/imports/{id}/cancel', { params }).catch(() => {});
    throw error;
  }
}

async function addTable(importId: number, given: DryRun, signal: AbortSignal): Promise<number> {
  const { tableId, mapping, file, pattern, rejectsRows, allowsMassDelete } = given;
  const made = typeof mapping === 'object' ? await makeMapping(tableId, mapping, file.name) : undefined;
  try {
    const { id } = await client.post('/imports/{id}/tables', {
      params: { path: { id: importId } },
      body: {
        table_definition_id: tableId,
        pattern,
        on_error: rejectsRows ? 'reject_rows' : 'reject_file',
        dry_run: true,
        import_mapping_id: made ?? (typeof mapping === 'number' ? mapping : null),
        file_size: file.size,
        ...(allowsMassDelete && { allow_mass_delete: true }),
      },
      signal,
    });
    return id;
  } finally {
    // The import has its own copy. Kept mappings are for those who save one with a name.
    if (made !== undefined)
      await client.delete('/import_mappings/{id}', { params: { path: { id: made } } }).catch(() => {});
  }
}

async function makeMapping(tableId: number, mapping: Mapping, fileName: string): Promise<number> {
  // Names are unique within a table, and at most 255 characters long.
  const name = `${fileName.slice(0, 200)} · ${crypto.randomUUID()}`;
  const import_mapping = { name, ...bodyOf(mapping) };
  const { id } = await client.post('/import_mappings', { body: { table_definition_id: tableId, import_mapping } });
  return id;
}
