// Links for passwords, as mails bring them: made as jobs makes them, opened and used in a browser.
import { Browser, type PageSeen } from '@almanac/api-client/browser';
import { type Account, formOf, type Identity } from '../given.ts';

export const password = 'correct horse battery';

/** The call with which jobs fetches a link for a mail. */
export async function linkFor(
  identity: Identity,
  account: Account,
  user_id = account.admin_user_id,
  purpose: 'invitation' | 'password_reset' = 'password_reset',
): Promise<string> {
  const call = { accountId: account.account_id };
  return (await identity.rpc('jobs').CreatePasswordLink(call, { user_id, purpose })).url;
}

/** Opens a link and returns its page. */
export async function openLink(link: string, browser = new Browser()): Promise<PageSeen> {
  const page = await browser.open(link);
  return page.location ? browser.open(page.location) : page;
}

/** Opens a link and sets a password with it. */
export async function setPassword(
  link: string,
  given: Record<string, string> = {},
  browser = new Browser(),
): Promise<PageSeen> {
  const page = await openLink(link, browser);
  return browser.submit(page, formOf(page, '/oauth/password'), { password, again: password, ...given });
}

/** The templates of the mails that were requested for a user. */
export function mailsTo(identity: Identity, user_id: number): unknown[] {
  return identity.mails
    .filter(({ payload }) => (payload.user_ids as number[]).includes(user_id))
    .map(({ payload }) => payload.template);
}
