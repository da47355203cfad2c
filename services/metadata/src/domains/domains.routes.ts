// The HTTP edge of domains.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { resourceGroupSchema } from '../groups/resource-groups.ts';
import { idempotencyKeyHeader, idempotent } from '../requests/idempotency.ts';
import { allowedShape, includeSchema, withAllowed, withAllowedOnPage } from '../rights/allowed-actions.ts';
import { judgeDomains } from './domain-actions.ts';
import {
  createDomain,
  deleteDomain,
  domainAttributes,
  domainFilters,
  getDomain,
  listDomains,
  requireDomain,
  updateDomain,
} from './domains.ts';

const domainShape = {
  id: z.int(),
  name: z.string(),
  abbreviation: z.string().nullable(),
  description: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  ...allowedShape,
};
const domainSchema = z.object(domainShape).meta({ id: 'Domain', description: 'A subject that tables belong to.' });
const domainDetailsSchema = z
  .object({ ...domainShape, user_groups: z.array(resourceGroupSchema) })
  .meta({ id: 'DomainDetails' });
const params = { id: idTextSchema };

export function domainRoutes(ctx: MetadataContext): Route[] {
  return [...readable(ctx), ...administratorsOnly(ctx)];
}

const readable = (ctx: MetadataContext): Route[] => [
  route({
    method: 'GET',
    path: '/domains',
    tag: 'Domains',
    summary: 'List domains',
    description: 'Every user of the account sees all domains.',
    query: { ...listParameters, include: includeSchema },
    response: pageSchema(domainSchema),
    handle: async ({ call, query: { include, ...query } }) => {
      const page = await listDomains(ctx, call, readListQuery(query, domainFilters));
      return withAllowedOnPage(include, page, (items) => judgeDomains(ctx, call, items));
    },
  }),
  route({
    method: 'GET',
    path: '/domains/{id}',
    tag: 'Domains',
    summary: 'Show a domain with its user groups and their members',
    description: 'The groups are those that hold a right on the domain itself, such as its editors.',
    params,
    query: { include: includeSchema },
    response: domainDetailsSchema,
    handle: async ({ call, params, query: { include } }) =>
      withAllowed(include, await getDomain(ctx, call, params.id), (items) => judgeDomains(ctx, call, items)),
  }),
];

const administratorsOnly = (ctx: MetadataContext): Route[] => [
  route({
    method: 'POST',
    path: '/domains',
    tag: 'Domains',
    summary: 'Create a domain',
    description: 'For administrators. Its user groups are created with it.',
    example: { domain: { name: 'Geography', abbreviation: 'GEO', description: 'Places and how they are called' } },
    scope: 'api:admin',
    resource: 'domain',
    attributes: domainAttributes,
    status: 201,
    response: domainSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, attributes }) => {
      const create = () => createDomain(ctx, call, attributes);
      return idempotent(ctx, call, create, (id) => requireDomain(ctx, call, id));
    },
  }),
  route({
    method: 'PATCH',
    path: '/domains/{id}',
    tag: 'Domains',
    summary: 'Change a domain',
    description: 'For administrators. Attributes that are left out stay as they are.',
    example: { domain: { description: 'Places and how they are called' } },
    scope: 'api:admin',
    params,
    resource: 'domain',
    attributes: { ...domainAttributes, name: domainAttributes.name.optional() },
    response: domainSchema,
    handle: async ({ call, params, attributes }) => updateDomain(ctx, call, params.id, attributes),
  }),
  route({
    method: 'DELETE',
    path: '/domains/{id}',
    tag: 'Domains',
    summary: 'Delete a domain that has no table definitions',
    description: 'For administrators. 422 while table definitions or deployed tables belong to it.',
    scope: 'api:admin',
    params,
    status: 204,
    handle: async ({ call, params }) => deleteDomain(ctx, call, params.id),
  }),
];
