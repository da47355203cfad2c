import { client, type Schemas } from '../../api/client.ts';
import type { Sample } from '../../imports/sample/read-sample.ts';

type Place = { branchId: number; domainId: number };

/**
 * The columns that the beginning of a file suggests. The service infers for a table that exists: it
 * is drafted for the question, and deleted with the answer.
 */
export async function inferColumns(
  { branchId, domainId }: Place,
  { text: sample }: Exclude<Sample, { kind: 'hidden' }>,
): Promise<Schemas['InferColumnsResult']> {
  const table_definition = { name: `Sample ${crypto.randomUUID()}`, domain_id: domainId };
  const { id } = await client.post('/table_definitions', { body: { branch_id: branchId, table_definition } });
  const params = { path: { id: String(id) } };
  try {
    return await client.post('/table_definitions/{id}/infer_columns', { params, body: { sample } });
  } finally {
    await client.delete('/table_definitions/{id}', { params });
  }
}
