// Data as a process: deployed tables and their rows.
import { runService } from '@almanac/service-kit/process/run';
import { readConfig } from './config.ts';
import { createData, migrateData } from './service.ts';

if (import.meta.main) await runService({ name: 'data', readConfig, migrate: migrateData, create: createData });
