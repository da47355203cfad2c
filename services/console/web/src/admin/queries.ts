// What the pages of administration read. Their keys begin with the resource that acts change.
import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../api/client.ts';
import { all } from '../api/queries.ts';

export type User = Schemas['User'];
export type Group = Schemas['UserGroup'];
export type Application = Schemas['OauthApplication'];

const minute = 60_000;

/** The users with their addresses, for administrators; `peopleQuery` is for everybody. */
export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: ({ signal }) => all(client.list('/users', { params: { query: { sort: 'email' } }, signal })),
  staleTime: minute,
});

export const userQuery = (id: number) =>
  queryOptions({
    queryKey: ['users', id],
    queryFn: ({ signal }) => client.get('/users/{id}', { params: { path: { id } }, signal }),
    staleTime: minute,
  });

/** The groups with their members and permissions. */
export const groupsQuery = queryOptions({
  queryKey: ['user_groups'],
  queryFn: ({ signal }) => all(client.list('/user_groups', { params: { query: { sort: 'name' } }, signal })),
  staleTime: minute,
});

export const domainsQuery = queryOptions({
  queryKey: ['domains'],
  queryFn: ({ signal }) => all(client.list('/domains', { params: { query: { sort: 'name' } }, signal })),
  staleTime: minute,
});

/** The tables of all branches that the person may see. */
export const definitionsQuery = queryOptions({
  queryKey: ['table_definitions', 'all'],
  queryFn: ({ signal }) => all(client.list('/table_definitions', { params: { query: { sort: 'name' } }, signal })),
  staleTime: minute,
});

export const applicationsQuery = queryOptions({
  queryKey: ['oauth_applications'],
  queryFn: ({ signal }) => all(client.list('/oauth_applications', { params: { query: { sort: 'name' } }, signal })),
  staleTime: minute,
});

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => client.get('/account', { signal }),
  staleTime: minute / 2,
});

export type Question = Schemas['ExplainPermissionRequest'];

/** Why a user may do something at a place, or may not. It is asked by POST, and changes nothing. */
export const explanationQuery = (question: Question) =>
  queryOptions({
    queryKey: ['explanations', question],
    queryFn: ({ signal }) => client.post('/permissions/explain', { body: question, signal }),
  });
