import { accountProbes } from './account-probes.ts';
import { changeProbes } from './change-probes.ts';
import { definitionProbes } from './definition-probes.ts';
import { fileProbes } from './file-probes.ts';
import type { Probe } from './probe.ts';
import { rowProbes } from './row-probes.ts';

/** Of every case of the rights table, by operation, or by operation and case. */
export const probes: Record<string, Probe> = {
  ...accountProbes,
  ...definitionProbes,
  ...changeProbes,
  ...rowProbes,
  ...fileProbes,
};
