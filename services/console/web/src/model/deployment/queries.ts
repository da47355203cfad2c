// The deployments of tables that have not ended.
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { all } from '../../api/queries.ts';

/** The deployments of a branch that are still to be decided, the newest first. */
export const openDeploymentsQuery = (branchId: number) =>
  queryOptions({
    queryKey: ['deployments', 'open', branchId],
    queryFn: ({ signal }) => {
      const query = { branch_id: branchId, q: ['status:in:created|requested|deploying'], sort: '-id' };
      return all(client.list('/deployments', { params: { query }, signal }));
    },
  });

/** Proposes a table for deployment, which changes nothing yet. */
export async function proposeDeployment(branchId: number, tableId: number): Promise<number> {
  const body = { branch_id: branchId, table_definition_ids: [tableId] };
  return (await client.post('/deployments', { body })).id;
}
