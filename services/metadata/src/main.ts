// Metadata as a process.
import { runService } from '@almanac/service-kit/process/run';
import { readConfig } from './config.ts';
import { createMetadata, migrateMetadata } from './service.ts';

if (import.meta.main)
  await runService({ name: 'metadata', readConfig, migrate: migrateMetadata, create: createMetadata });
