import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../api/client.ts';

export type BranchDetails = Schemas['BranchDetails'];
export type DivergedTable = Schemas['DivergedTable'];

/** A branch with its parent and owner, and what the person may do with it. */
export const branchQuery = (id: number) =>
  queryOptions({
    queryKey: ['branches', 'one', id],
    queryFn: ({ signal }) =>
      client.get('/branches/{id}', { params: { path: { id }, query: { include: 'can' } }, signal }),
  });

/** What a branch and its parent have changed since both had the same. */
export const divergenceQuery = (id: number) =>
  queryOptions({
    queryKey: ['divergence', id],
    queryFn: ({ signal }) => client.get('/branches/{id}/divergence', { params: { path: { id } }, signal }),
  });
