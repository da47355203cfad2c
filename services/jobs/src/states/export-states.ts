// The states of an export (docs/states/export.md).
import type { Transition } from './state-machine.ts';

export type ExportStatus = 'created' | 'processing' | 'completed' | 'failed' | 'cancelled';
type ExportEvent = 'begin' | 'wait' | 'finish' | 'fail' | 'cancel' | 'retry';

export const exportMachine = [
  ['created', 'begin', 'processing'],
  ['processing', 'begin', 'processing'],
  ['processing', 'wait', 'created'],
  ['processing', 'finish', 'completed'],
  ['created', 'fail', 'failed'],
  ['processing', 'fail', 'failed'],
  ['created', 'cancel', 'cancelled'],
  ['processing', 'cancel', 'cancelled'],
  ['failed', 'retry', 'created'],
] as const satisfies readonly Transition<ExportStatus, ExportEvent>[];

export const openExportStates: ExportStatus[] = ['created', 'processing'];
