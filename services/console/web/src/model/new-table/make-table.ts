import { AlmanacError, client, type Schemas } from '../../api/client.ts';
import { proposeDeployment } from '../deployment/queries.ts';
import { bodyOf, type NewColumn } from './draft-columns.ts';

export type NewTable = { branchId: number; domainId: number; name: string; columns: NewColumn[] };

export type MadeTable = {
  definition: Schemas['TableDefinition'];
  /** Undefined on plans without branches, where a table is deployed at once. */
  deploymentId: number | undefined;
};

/** Drafts a table with its columns. When one of them is refused, nothing stays behind. */
export async function makeTable(
  { branchId, domainId, name, columns }: NewTable,
  hasBranching: boolean,
): Promise<MadeTable> {
  const table_definition = { name: name.trim(), domain_id: domainId };
  const definition = await client.post('/table_definitions', { body: { branch_id: branchId, table_definition } });
  const { id } = definition;
  try {
    for (const column of columns) await addColumn(id, column);
    return { definition, deploymentId: hasBranching ? await proposeDeployment(branchId, id) : undefined };
  } catch (error) {
    await client.delete('/table_definitions/{id}', { params: { path: { id: String(id) } } }).catch(() => {});
    throw error;
  }
}

/** A refusal of a column that names the column. */
export class ColumnRefused extends Error {
  readonly column: NewColumn;
  readonly refusal: AlmanacError;

  constructor(column: NewColumn, refusal: AlmanacError) {
    super(refusal.message);
    this.column = column;
    this.refusal = refusal;
  }
}

async function addColumn(tableId: number, column: NewColumn): Promise<void> {
  try {
    const body = { table_definition_id: tableId, column_definition: bodyOf(column) };
    await client.post('/column_definitions', { body });
  } catch (error) {
    throw error instanceof AlmanacError ? new ColumnRefused(column, error) : error;
  }
}
