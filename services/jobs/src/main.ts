// The process of jobs: imports, exports, import mappings, mails, and the files behind them.
import { runService } from '@almanac/service-kit/process/run';
import { readConfig } from './config.ts';
import { createJobs, migrateJobs } from './service.ts';

if (import.meta.main) await runService({ name: 'jobs', readConfig, migrate: migrateJobs, create: createJobs });
