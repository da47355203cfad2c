// /oauth_applications (extension): all for administrators (api:admin).

import { idTextSchema, nameSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';
import { timeSchema } from '../time-schema.ts';

import { scopesSchema } from '../tokens/scopes.ts';
import { createSecret, deleteSecret, listSecrets, secretFields } from './application-secrets.ts';
import {
  applicationFields,
  createApplication,
  deleteApplication,
  getApplication,
  listApplications,
  regenerateSecret,
  updateApplication,
} from './applications.ts';
import { readRedirectUris } from './redirect-uris.ts';

const applicationSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    client_id: z.string(),
    redirect_uri: z.string(),
    confidential: z.boolean(),
    scopes: z.string(),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: 'OauthApplication' });

const withSecretSchema = applicationSchema
  .extend({
    client_secret: z.string().nullable().meta({ description: 'Shown only here; null for a public application.' }),
  })
  .meta({ id: 'OauthApplicationWithSecret' });

const redirectUriSchema = z
  .union([z.string(), z.array(z.string()).max(limits.problems)])
  .transform((value, checked) => {
    const { text, problems } = readRedirectUris(typeof value === 'string' ? value : value.join('\n'));
    for (const { code, message, params } of problems)
      checked.addIssue({
        code: 'custom',
        input: value,
        ...rule(code, message.replace(/^Redirect uri /, ''), params),
      });
    return text;
  })
  .meta({
    description: 'Several, one per line or in an array. https, loopback or a scheme that is a reversed domain name.',
  });

const secretSchema = z
  .object({
    id: z.int(),
    hint: z.string().nullable().meta({ description: 'Its last four characters.' }),
    created_at: timeSchema,
    last_used_at: timeSchema.nullable().meta({ format: 'date-time', description: 'To the hour; null: never.' }),
  })
  .meta({ id: 'OauthApplicationSecret' });

const newSecretSchema = secretSchema.extend({
  client_secret: z.string().meta({ description: 'Shown only here.' }),
});

const common = { tag: 'OAuth applications', scope: 'api:admin', extension: true } as const;
const resource = 'oauth_application';
const params = { id: idTextSchema };

/** Routes of OAuth applications and their secrets. */
export function applicationRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      path: '/oauth_applications',
      summary: 'List OAuth applications',
      description: 'For administrators. Never with their secrets.',
      query: listParameters,
      response: pageSchema(applicationSchema),
      handle: ({ call, query }) => listApplications(ctx, call, readListQuery(query, applicationFields)),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/oauth_applications/{id}',
      summary: 'Show an OAuth application',
      description: 'For administrators. Never with its secret.',
      params,
      response: applicationSchema,
      handle: ({ call, params: { id } }) => getApplication(ctx, call, id),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/oauth_applications',
      summary: 'Create an OAuth application',
      requestHeaders: idempotencyKeyHeader,
      example: {
        oauth_application: {
          name: 'Data warehouse',
          redirect_uri: 'https://warehouse.example.com/callback',
          confidential: true,
          scopes: 'api:read',
        },
      },
      description: 'The secret is in this answer and never again. Without scopes it may only read.',
      resource,
      attributes: {
        name: nameSchema,
        redirect_uri: redirectUriSchema.optional(),
        confidential: z.boolean().optional(),
        scopes: scopesSchema.optional(),
      },
      status: 201,
      response: withSecretSchema,
      handle: ({ call, attributes }) => createApplication(ctx, call, attributes),
    }),
    route({
      ...common,
      method: 'PATCH',
      path: '/oauth_applications/{id}',
      summary: 'Change an OAuth application',
      description: 'For administrators. Tokens that were issued before are limited to the new scopes.',
      example: { oauth_application: { scopes: 'api:read api:write' } },
      params,
      resource,
      attributes: {
        name: nameSchema.optional(),
        redirect_uri: redirectUriSchema.optional(),
        confidential: z.boolean().optional(),
        scopes: scopesSchema.optional(),
      },
      response: applicationSchema,
      handle: ({ call, params: { id }, attributes }) => updateApplication(ctx, call, id, attributes),
    }),
    route({
      ...common,
      method: 'DELETE',
      path: '/oauth_applications/{id}',
      summary: 'Delete an OAuth application and revoke its tokens',
      description: 'For administrators. Its tokens stop working within a second or two.',
      params,
      status: 204,
      handle: ({ call, params: { id } }) => deleteApplication(ctx, call, id),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/oauth_applications/{id}/regenerate_secret',
      summary: 'Replace the secret',
      requestHeaders: idempotencyKeyHeader,
      description:
        'The new secret is in this answer, and in that to the same request with its Idempotency-Key, and never again; the old ones stop working at once.',
      params,
      response: withSecretSchema,
      handle: ({ call, params: { id } }) => regenerateSecret(ctx, call, id),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/oauth_applications/{id}/secrets',
      summary: 'List the secrets of an application',
      description: 'Which there are and when they were used last; never the secrets themselves.',
      params,
      query: listParameters,
      response: pageSchema(secretSchema),
      handle: ({ call, params: { id }, query }) =>
        listSecrets(ctx, call, id, readListQuery(query, secretFields, 'hint')),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/oauth_applications/{id}/secrets',
      summary: 'Add a second secret',
      requestHeaders: idempotencyKeyHeader,
      description:
        'Both work until one is deleted, so that a secret can be replaced without an interruption. The new one is in this answer, and in that to the same request with its Idempotency-Key, and never again.',
      params,
      status: 201,
      response: newSecretSchema,
      handle: ({ call, params: { id } }) => createSecret(ctx, call, id),
    }),
    route({
      ...common,
      method: 'DELETE',
      path: '/oauth_applications/{id}/secrets/{secret_id}',
      summary: 'Delete a secret',
      description: 'It stops working at once. A confidential application keeps at least one.',
      params: { ...params, secret_id: idTextSchema },
      status: 204,
      handle: ({ call, params: { id, secret_id } }) => deleteSecret(ctx, call, id, secret_id),
    }),
  ];
}
