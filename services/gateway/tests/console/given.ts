// A browser with a session of the console.
import { createHash, randomBytes } from 'node:crypto';
import type { FakeIdentity, FakeSession } from '../fakes.ts';
import type { TestGateway } from '../given.ts';

let made = 0;

export type Browser = {
  session: FakeSession;
  cookie: string;
  /** A call as a page of the console makes it. */
  call(path: string, init?: RequestInit): Promise<Response>;
  /** Identity no longer knows the session. */
  end(): void;
};

const minute = 60_000;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

/** What a page of the console sends with each call. */
export const asConsole = { 'x-almanac-console': '1', 'sec-fetch-site': 'same-origin' };

/** A browser in which a user is logged in. */
export function givenBrowser(identity: FakeIdentity, gateway: TestGateway, facts: Partial<FakeSession> = {}): Browser {
  made += 1;
  const id = randomBytes(32).toString('base64url');
  const session: FakeSession = {
    id: made,
    account_id: 1,
    user_id: 7,
    started_at: inMs(-minute),
    expires_at: inMs(60 * minute),
    confirmed_until: inMs(14 * minute),
    ...facts,
  };
  const digest = createHash('sha256').update(id).digest('base64url');
  identity.sessions.set(digest, session);
  const cookie = `almanac_session=${id}`;
  return {
    session,
    cookie,
    call: (path, { headers, ...init } = {}) =>
      fetch(`${gateway.url}/console${path}`, {
        redirect: 'manual',
        ...init,
        headers: { ...asConsole, cookie, ...(headers as Record<string, string>) },
      }),
    end: () => void identity.sessions.delete(digest),
  };
}
