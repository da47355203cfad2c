// Requests to send a mail. Jobs composes and sends it, and fetches the link in it only then
// (password-links.ts), so that no queue holds a secret.
import { announce, type Transaction } from '../transaction.ts';

export type MailTemplate = 'invitation' | 'password_reset' | 'password_changed';

type MailRequest = { account_id: number; template: MailTemplate; user_ids: readonly number[] };

/** Requests a mail to users of an account, if the transaction commits. */
export function requestMail(tx: Transaction, mail: MailRequest, requestId?: string): Promise<void> {
  return announce(tx, { requestId }, 'mail.requested', { ...mail, values: {} });
}
