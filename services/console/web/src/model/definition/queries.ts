// What the pages of models read. Whatever changes a draft changes all answers about tables.
import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import { all, type Column } from '../../api/queries.ts';

/** A draft with its columns. */
export type DefinitionDetails = Schemas['TableDefinitionDetails'];
export type DraftColumn = Schemas['ColumnDefinition'];
export type Domain = Schemas['Domain'];
/** A column of a draft or of a table in service. */
export type AnyColumn = DraftColumn | Column;

/** The queries that an act on a draft makes outdated. */
export const draftChanges = [['tables'], ['table_definitions'], ['deployments']];

const minute = 60_000;

/** The draft of a table with its columns, and what the person may do with it. */
export const definitionQuery = (branchId: number, key: string) =>
  queryOptions({
    queryKey: ['tables', 'definition', branchId, key],
    queryFn: ({ signal }) => {
      const params = { path: { id: key }, query: { branch_id: branchId, include: 'can' as const } };
      return client.get('/table_definitions/{id}', { params, signal });
    },
    staleTime: minute,
  });

/** The tables of a domain on all branches that the person sees. */
export const tablesOfDomainQuery = (domainId: number) =>
  queryOptions({
    queryKey: ['table_definitions', 'domain', domainId],
    queryFn: ({ signal }) =>
      all(client.list('/table_definitions', { params: { query: { domain_id: domainId, sort: 'name' } }, signal })),
  });

/** The domains, with what the person may do with each. */
export const domainsQuery = queryOptions({
  queryKey: ['domains', 'can'],
  queryFn: ({ signal }) =>
    all(client.list('/domains', { params: { query: { sort: 'name', include: 'can' } }, signal })),
  staleTime: minute,
});
