// The session of this browser: what it is, and how it ends.
import { AlmanacError } from '../api/client.ts';
import { keptEditsPrefix } from '../edits/kept-edits.ts';

const path = '/console/session';
const headers = { 'X-Almanac-Console': '1' };

/** The number of this browser's session, as `/me/sessions` lists it. */
export async function currentSessionId(signal: AbortSignal): Promise<number> {
  const response = await fetch(path, { headers, signal });
  if (!response.ok) throw new AlmanacError(`GET ${path}`, response, await response.json().catch(() => undefined));
  return ((await response.json()) as { id: number }).id;
}

/** Whether edits that are not saved yet are kept in this browser. */
export function hasPendingEdits(storage: Storage = localStorage): boolean {
  return editKeys(storage).length > 0;
}

/** Ends the session, drops the edits that this browser keeps, and leads to the log-in. */
export async function signOut(): Promise<void> {
  const response = await fetch(path, { method: 'DELETE', headers });
  // A session that has ended already needs no end.
  if (!response.ok && response.status !== 401)
    throw new AlmanacError(`DELETE ${path}`, response, await response.json().catch(() => undefined));
  dropEdits();
  window.location.assign(`/oauth/login?${new URLSearchParams({ return_to: '/console/' })}`);
}

/** The next person at this browser must not find them. */
export function dropEdits(storage: Storage = localStorage): void {
  for (const key of editKeys(storage)) storage.removeItem(key);
}

function editKeys(storage: Storage): string[] {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '').filter((key) =>
    key.startsWith(keptEditsPrefix),
  );
}
