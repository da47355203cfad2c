// The states of an export (docs/states/export.md).
import type { Transition } from '../states.ts';

export type ExportStatus = 'created' | 'processing' | 'completed' | 'failed';
type ExportEvent = 'begin' | 'wait' | 'finish' | 'fail' | 'retry';

export const exportMachine = [
  ['created', 'begin', 'processing'],
  ['processing', 'begin', 'processing'],
  ['processing', 'wait', 'created'],
  ['processing', 'finish', 'completed'],
  ['created', 'fail', 'failed'],
  ['processing', 'fail', 'failed'],
  ['failed', 'retry', 'created'],
] as const satisfies readonly Transition<ExportStatus, ExportEvent>[];

export const openExportStates: ExportStatus[] = ['created', 'processing'];
