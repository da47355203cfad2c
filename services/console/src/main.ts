// The console's server as a process.
import { runService } from '@almanac/service-kit/process/run';
import { readConfig } from './config.ts';
import { createConsole } from './service.ts';

if (import.meta.main) await runService({ name: 'console', readConfig, create: createConsole });
