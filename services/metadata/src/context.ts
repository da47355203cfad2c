// The parts that every function of metadata takes.
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import type { MetadataConfig } from './config.ts';
import type { PrismaClient } from './generated/prisma/client.ts';

export type MetadataContext = {
  logger: Logger;
  prisma: PrismaClient;
  rights: Rights;
  identity: RpcClient<'identity'>;
  data: RpcClient<'data'>;
  timing: MetadataConfig['timing'];
};
