// The command that loads ISO's code lists into an account through the public API. Its code is
// imported lazily, since only the operators' image has its packages.
import { Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import type { NewAccount } from './accounts.ts';
import type { Command } from './arguments.ts';
import type { LoadedTable, Upload } from './demo-data/load-tables.ts';
import { OperatorError } from './operator.ts';

type Credentials = Pick<NewAccount, 'admin' | 'application'> & { base_url: string };

export const demoDataCommands = {
  'accounts add-demo-data': {
    usage: 'accounts add-demo-data < CREDENTIALS',
    about:
      'Loads ISO countries, subdivisions, currencies and languages into the account whose credentials, as accounts create --json prints them, are on standard input. Can be repeated.',
    options: {},
    positionals: 0,
    asksNoService: true,
    prepare: () => async () => {
      const credentials = await readCredentials();
      const { loadIsoData } = await import('./demo-data/iso-account.ts');
      const way = { gatewayUrl: process.env.GATEWAY_URL || undefined, upload: await uploadTo(process.env) };
      const report = (what: string) => console.error(`${what} …`);
      return loadIsoData(credentials.base_url, credentials, report, way).catch((error: Error) => {
        throw new OperatorError(`The data could not be loaded (repeat the command to continue): ${error.message}`);
      });
    },
    show: (tables: LoadedTable[]) => `Loaded: ${describeTables(tables)}.`,
  },
} satisfies Record<string, Command>;

/** `249 countries, 5046 subdivisions` */
export function describeTables(tables: readonly LoadedTable[]): string {
  return tables.map(({ name, rows }) => `${rows} ${name.toLowerCase()}`).join(', ');
}

async function readCredentials(): Promise<Credentials> {
  const wanted = 'Give the JSON that "accounts create --json" printed: accounts add-demo-data < credentials.json';
  if (process.stdin.isTTY) throw new OperatorError(wanted);
  try {
    const credentials = JSON.parse(await readAll(process.stdin)) as Partial<Credentials>;
    const { admin, application, base_url } = credentials;
    if (base_url && admin?.password && application?.client_secret) return credentials as Credentials;
  } catch {}
  throw new OperatorError(wanted);
}

// The address in an upload link is for clients, and may be unreachable within a network of
// containers. With the keys of the bucket, the file is stored without the link.
async function uploadTo(env: NodeJS.ProcessEnv): Promise<Upload | undefined> {
  const url = env.JOBS_OBJECT_STORE_URL;
  if (!url || url.startsWith('file:')) return undefined;
  const [{ createObjectStore }, { keyOfLink }] = await Promise.all([
    import('../../../services/jobs/src/files/object-store/create-object-store.ts'),
    import('../../../services/jobs/src/files/object-store/object-store.ts'),
  ]);
  const store = await createObjectStore({ url, publicUrl: '' });
  return async (link, content) => {
    const bytes = Buffer.from(content);
    const options = { maxBytes: bytes.length, contentType: 'text/csv' };
    await store.put(keyOfLink(link), Readable.from([bytes]), options);
  };
}
