// Billing as a process: plans, allowances, usage, and call leases.
import { runService } from '@almanac/service-kit/process/run';
import { readConfig } from './config.ts';
import { createBilling, migrateBilling } from './service.ts';

if (import.meta.main) await runService({ name: 'billing', readConfig, migrate: migrateBilling, create: createBilling });
