// The mapping that was last used for a table in this browser, by the key of the table.
import type { Mapping } from './mapping.ts';

const storageKey = 'almanac.import-mappings';
const kept = 20;

export type KeptMapping = { mapping: Mapping; at: string };

export function keptMapping(tableKey: string): KeptMapping | undefined {
  return keptMappings().find(([key]) => key === tableKey)?.[1];
}

/** Keeps a mapping; those of the tables used longest ago are dropped. */
export function keepMapping(tableKey: string, mapping: Mapping): void {
  const others = keptMappings().filter(([key]) => key !== tableKey);
  const entries = [[tableKey, { mapping, at: new Date().toISOString() }], ...others].slice(0, kept);
  localStorage.setItem(storageKey, JSON.stringify(entries));
}

function keptMappings(): [string, KeptMapping][] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(found) ? found.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(entry: unknown): entry is [string, KeptMapping] {
  const [key, kept] = Array.isArray(entry) ? entry : [];
  return typeof key === 'string' && Array.isArray((kept as KeptMapping | undefined)?.mapping?.column_mappings);
}
