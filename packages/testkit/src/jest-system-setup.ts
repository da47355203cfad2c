// Before the first test of the whole system: starts one here on free ports, unless ALMANAC_BASE_URL names one that runs.
import { type RunningSystem, startSystem, systemHomeName } from './system.ts';

/** Where the teardown finds what the setup started; both run in the same process. */
export const holder = globalThis as { almanacTestSystem?: RunningSystem };

export default async function setup(): Promise<void> {
  if (process.env.ALMANAC_BASE_URL) return;
  holder.almanacTestSystem = await startSystem({ onRealServers: true });
  process.env.ALMANAC_BASE_URL = holder.almanacTestSystem.baseUrl;
  process.env[systemHomeName] = holder.almanacTestSystem.home;
}
