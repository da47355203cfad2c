// Deployed tables for callers who ask for exact numbers: decimals and bigints as JSON strings. A JSON
// parser that reads numbers into doubles rounds those of more than 15 digits.
import type { DeployedTable } from './table.ts';

const remembered = new WeakMap<DeployedTable, DeployedTable>();

/**
 * The same table whose records show decimals and bigints as strings. It is an entry of its own, so that
 * what is remembered by entry (statements, pages, rows read together) is remembered for one form only.
 */
export function withExactNumbers(table: DeployedTable): DeployedTable {
  let exact = remembered.get(table);
  if (!exact) {
    exact = { ...table, structure: { ...table.structure, exact_numbers: true } };
    remembered.set(table, exact);
  }
  return exact;
}
