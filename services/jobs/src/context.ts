// The dependencies of the functions of jobs.
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import type pg from 'pg';
import type { JobsConfig } from './config.ts';
import type { ObjectStore } from './files/object-store/object-store.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import type { Mailer } from './mail/mailer.ts';
import type { WebhookSecrets } from './webhooks/secrets/webhook-secrets.ts';
import type { Reach } from './webhooks/sending/endpoint-url.ts';

export type JobsContext = {
  logger: Logger;
  prisma: PrismaClient;
  /** For the statements of the work queue, which Prisma cannot express. */
  pool: pg.Pool;
  store: ObjectStore;
  rights: Rights;
  /** Recipients of mails, and the links in them. */
  identity: Pick<RpcClient<'identity'>, 'GetAccount' | 'ListUsers' | 'ListAdministrators' | 'CreatePasswordLink'>;
  metadata: Pick<RpcClient<'metadata'>, 'GetBranch' | 'GetTableDefinition' | 'ListTablePlaces' | 'CreateChangeRequest'>;
  data: Pick<
    RpcClient<'data'>,
    | 'GetDeployedTable'
    | 'ListChanges'
    | 'CheckColumnSources'
    | 'BulkLoad'
    | 'CancelLoad'
    | 'BulkRead'
    | 'CheckBulkRead'
    | 'ReadRejectedRows'
    | 'ListRejectedRows'
    | 'ReadLoadChanges'
  >;
  work: JobsConfig['work'];
  /** Undefined: no transport is configured, so mails stay queued. */
  mailer?: Mailer;
  webhooks: { secrets: WebhookSecrets; reach: Reach };
};
