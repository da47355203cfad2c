// The states of a mail (docs/states/mail.md).
import type { Transition } from './state-machine.ts';

export type MailStatus = 'queued' | 'sent' | 'skipped' | 'failed';

export const mailMachine = [
  ['queued', 'send', 'sent'],
  ['queued', 'skip', 'skipped'],
  ['queued', 'fail', 'failed'],
  ['failed', 'retry', 'queued'],
] as const satisfies readonly Transition<MailStatus, string>[];
