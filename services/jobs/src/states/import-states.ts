// The states of an import and of its tables (docs/states/import.md).
import type { Transition } from './state-machine.ts';

export type ImportStatus =
  | 'created'
  | 'uploading'
  | 'processing'
  | 'completed'
  | 'completed_with_errors'
  | 'failed'
  | 'cancelled';
type ImportEvent =
  | 'add_table'
  | 'upload_complete'
  | 'complete'
  | 'cancel'
  | 'finish'
  | 'expire'
  | 'retry'
  | 'apply'
  | 'correct';

export const importMachine = [
  ['created', 'add_table', 'uploading'],
  ['uploading', 'add_table', 'uploading'],
  ['created', 'upload_complete', 'processing'],
  ['uploading', 'upload_complete', 'processing'],
  ['created', 'complete', 'processing'],
  ['uploading', 'complete', 'processing'],
  ['processing', 'complete', 'processing'],
  ['processing', 'finish', 'completed'],
  ['processing', 'finish', 'completed_with_errors'],
  ['processing', 'finish', 'failed'],
  ['processing', 'finish', 'cancelled'],
  ['created', 'cancel', 'cancelled'],
  ['uploading', 'cancel', 'cancelled'],
  ['processing', 'cancel', 'processing'],
  ['created', 'expire', 'cancelled'],
  ['uploading', 'expire', 'cancelled'],
  ['failed', 'retry', 'processing'],
  ['completed_with_errors', 'retry', 'processing'],
  ['completed', 'apply', 'processing'],
  ['completed_with_errors', 'apply', 'processing'],
  ['processing', 'apply', 'processing'],
  ['failed', 'correct', 'processing'],
  ['completed_with_errors', 'correct', 'processing'],
  ['processing', 'correct', 'processing'],
] as const satisfies readonly Transition<ImportStatus, ImportEvent>[];

export type ImportTableStatus =
  | 'created'
  | 'uploaded'
  | 'processing'
  | 'completed'
  | 'completed_with_errors'
  | 'failed'
  | 'cancelled';
type ImportTableEvent =
  | 'upload'
  | 'begin'
  | 'wait'
  | 'finish'
  | 'fail'
  | 'cancel'
  | 'retry'
  | 'apply'
  | 'propose'
  | 'correct';

export const importTableMachine = [
  ['created', 'upload', 'uploaded'],
  ['uploaded', 'upload', 'uploaded'],
  ['uploaded', 'begin', 'processing'],
  ['processing', 'begin', 'processing'],
  ['processing', 'wait', 'uploaded'],
  ['processing', 'finish', 'completed'],
  ['processing', 'finish', 'completed_with_errors'],
  ['processing', 'finish', 'failed'],
  ['processing', 'finish', 'cancelled'],
  ['created', 'fail', 'failed'],
  ['uploaded', 'fail', 'failed'],
  ['processing', 'fail', 'failed'],
  ['created', 'cancel', 'cancelled'],
  ['uploaded', 'cancel', 'cancelled'],
  ['failed', 'retry', 'uploaded'],
  ['completed', 'apply', 'uploaded'],
  ['completed_with_errors', 'apply', 'uploaded'],
  ['completed', 'propose', 'completed'],
  ['completed_with_errors', 'propose', 'completed_with_errors'],
  ['failed', 'correct', 'uploaded'],
  ['completed_with_errors', 'correct', 'uploaded'],
] as const satisfies readonly Transition<ImportTableStatus, ImportTableEvent>[];

export const openImportStates: ImportStatus[] = ['created', 'uploading', 'processing'];
export const finishedTableStates: ImportTableStatus[] = ['completed', 'completed_with_errors', 'failed', 'cancelled'];

/**
 * The final status of an import whose tables have all ended. Cancelled tables don't count; an
 * import without other tables is completed.
 */
export function importOutcome(tables: readonly ImportTableStatus[]): 'completed' | 'completed_with_errors' | 'failed' {
  const counted = tables.filter((status) => status !== 'cancelled');
  if (counted.length > 0 && counted.every((status) => status === 'failed')) return 'failed';
  return counted.every((status) => status === 'completed') ? 'completed' : 'completed_with_errors';
}
