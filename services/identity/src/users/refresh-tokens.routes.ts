// /users/{id}/refresh_tokens (extension): what programs act with as a service user. All for
// administrators (api:admin).

import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { instantSchema } from '@almanac/service-kit/text/instants';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';
import { timeSchema } from '../time-schema.ts';
import { scopesSchema } from '../tokens/scopes.ts';
import { issueRefreshToken, listRefreshTokens, refreshTokenFields, revokeRefreshToken } from './refresh-tokens.ts';

const refreshTokenSchema = z
  .object({
    id: z.int().meta({ description: 'Stays the same while programs exchange the token for new ones.' }),
    oauth_application_id: z.int(),
    scopes: z.string(),
    created_at: timeSchema,
    expires_at: timeSchema,
    last_used_at: timeSchema.nullable().meta({ format: 'date-time', description: 'null: never.' }),
  })
  .meta({ id: 'RefreshToken' });

const common = { tag: 'Users', scope: 'api:admin', extension: true } as const;
const params = { id: idTextSchema };

/** Routes of the refresh tokens of service users. */
export function refreshTokenRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      path: '/users/{id}/refresh_tokens',
      summary: 'List the refresh tokens of a service user',
      description: 'Those that are valid, and when they were used last; never the tokens themselves.',
      params,
      query: listParameters,
      response: pageSchema(refreshTokenSchema),
      handle: ({ call, params: { id }, query }) =>
        listRefreshTokens(ctx, call, id, readListQuery(query, refreshTokenFields, 'id')),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/users/{id}/refresh_tokens',
      summary: 'Issue a refresh token to a service user',
      requestHeaders: idempotencyKeyHeader,
      example: { oauth_application_id: 3, refresh_token: { scopes: 'api:read api:write' } },
      description:
        'For one confidential OAuth application of the account, whose secret it needs at `/oauth/token`. The token is in this answer, and in that to the same request with its Idempotency-Key, and never again. The earlier ones of the user are revoked with their access tokens, unless `keep_previous` is true; at most two work at the same time.',
      params,
      resource: 'refresh_token',
      body: { oauth_application_id: idSchema },
      attributes: {
        scopes: scopesSchema.optional().meta({
          type: 'string',
          description: 'Space-separated; some of those of the application, all unless given.',
        }),
        expires_at: instantSchema.optional().meta({
          type: 'string',
          format: 'date-time',
          description: 'When the token and all that is exchanged for it end; in a year unless given, and at most.',
        }),
        keep_previous: z.boolean().optional().meta({
          writeOnly: true,
          description: 'Lets the earlier token work on, so that programs can be given the new one first.',
        }),
      },
      status: 201,
      response: refreshTokenSchema
        .extend({ refresh_token: z.string().meta({ description: 'Shown only here.' }) })
        .meta({ id: 'IssuedRefreshToken' }),
      handle: ({ call, params: { id }, body, attributes }) =>
        issueRefreshToken(ctx, call, id, () => ({ ...body(), ...attributes() })),
    }),
    route({
      ...common,
      method: 'DELETE',
      path: '/users/{id}/refresh_tokens/{token_id}',
      summary: 'Revoke a refresh token of a service user',
      description: 'With all tokens that it was exchanged for, at once.',
      params: { ...params, token_id: idTextSchema },
      status: 204,
      handle: ({ call, params: { id, token_id } }) => revokeRefreshToken(ctx, call, id, token_id),
    }),
  ];
}
