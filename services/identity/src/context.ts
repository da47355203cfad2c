// The dependencies of identity's functions, passed beside the call and its input.
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import type { IdentityConfig } from './config.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import type { Passwords } from './passwords/passwords.ts';
import type { PageSigner } from './security/page-signer.ts';
import type { Throttle } from './security/throttle.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';

export type IdentityContext = {
  config: IdentityConfig;
  logger: Logger;
  prisma: PrismaClient;
  billing: RpcClient<'billing'>;
  /** Rights of users, read from identity's own database. */
  rights: Rights;
  keys: SigningKeys;
  passwords: Passwords;
  pageSigner: PageSigner;
  throttle: Throttle;
};
