// Applications as the OAuth endpoints see them: clients, found by their client id, with the digests
// of their secrets.
import type { Database } from '../transaction.ts';

/** An application as the OAuth endpoints see it. */
export type Client = {
  id: number;
  account_id: number;
  name: string;
  client_id: string;
  redirect_uri: string;
  confidential: boolean;
  scopes: string;
  secrets: { id: number; digest: Uint8Array; last_used_at: Date | null }[];
};

/** The application with this client id, in any active account. */
export function findClient(db: Database, clientId: string): Promise<Client | null> {
  // No client id has another form; PostgreSQL need not be asked.
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(clientId)) return Promise.resolve(null);
  return db.oauth_application.findFirst({
    where: { client_id: clientId, account: { status: 'active' } },
    select: {
      id: true,
      account_id: true,
      name: true,
      client_id: true,
      redirect_uri: true,
      confidential: true,
      scopes: true,
      secrets: { select: { id: true, digest: true, last_used_at: true } },
    },
  });
}
