// The gateway as a process: the only service that clients talk to.
import { runService } from '@almanac/service-kit/process/run';
import { readConfig } from './config.ts';
import { createGateway } from './service.ts';

if (import.meta.main) await runService({ name: 'gateway', readConfig, create: createGateway });
