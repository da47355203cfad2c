// Mails that identity wants sent: who gets which. Jobs writes and sends them, and asks for the link in one only then
// (password-links.ts), so no secret waits in a queue.
import type { Transaction } from '../transaction.ts';

export type MailTemplate = 'invitation' | 'password_reset' | 'password_changed';

type MailRequest = { account_id: number; template: MailTemplate; user_ids: readonly number[] };

/** Asks for a mail to people of an account, if the transaction commits. */
export function requestMail(tx: Transaction, mail: MailRequest, requestId?: string): Promise<void> {
  return tx.announce('identity.mail.requested', { ...mail, values: {} }, requestId);
}
