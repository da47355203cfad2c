import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../api/client.ts';

export type BranchDetails = Schemas['BranchDetails'];

/** A branch with its parent and owner, and what the person may do with it. */
export const branchQuery = (id: number) =>
  queryOptions({
    queryKey: ['branches', 'one', id],
    queryFn: ({ signal }) =>
      client.get('/branches/{id}', { params: { path: { id }, query: { include: 'can' } }, signal }),
  });
