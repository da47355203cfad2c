// Billing as a process: plans, allowances, counters, and the leases by which gateways count calls.
import { runService } from '@almanac/service-kit/process/run';
import { readConfig } from './config.ts';
import { createBilling, migrateBilling } from './service.ts';

await runService({ name: 'billing', readConfig, migrate: migrateBilling, create: createBilling });
