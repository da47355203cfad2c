// The identity process: accounts, users, groups, applications and the OAuth server.
import { runService } from '@almanac/service-kit/process/run';
import { readConfig } from './config.ts';
import { createIdentity, migrateIdentity } from './service.ts';

if (import.meta.main)
  await runService({ name: 'identity', readConfig, migrate: migrateIdentity, create: createIdentity });
