// The demo of the first start: an account with an administrator and an application, ISO data, two
// more people and changes that wait for review, all through the public API. Every step is
// repeatable, so the next start continues an interrupted one.
import { randomBytes } from 'node:crypto';
import { createAccount } from '@almanac/admin-cli/accounts';
import { ensureDemoPeople } from '@almanac/admin-cli/demo-data/demo-people';
import { ensureDemoRequests } from '@almanac/admin-cli/demo-data/demo-requests';
import { loadIsoData } from '@almanac/admin-cli/demo-data/iso-account';
import { describeTables } from '@almanac/admin-cli/demo-data-commands';
import { createOperator } from '@almanac/admin-cli/operator';
import { createApi } from '@almanac/api-client/api';
import { type Person, signInPerson } from '@almanac/api-client/sign-in';
import { type Home, readJson, readRuntime, writeJson } from '@almanac/embedded/home';
import type { Screen } from '@almanac/embedded/screen';
import { type DemoAccount, keepDemoAccount } from '@almanac/embedded/secrets';
import type { System } from '@almanac/embedded/supervisor';

type Given = { home: Home; system: System; screen: Screen; signal: AbortSignal };

type Credentials = { base_url: string } & DemoAccount;

// For programs; and the page of the documentation on which a person tries calls. Any port will do.
const redirectUri = 'http://127.0.0.1:9876/callback';
const docsRedirectUris = ['127.0.0.1', 'localhost'].map((host) => `http://${host}/docs/oauth2-redirect.html`);

/**
 * Creates the demo account with its data. Later starts only update the address in the credentials.
 */
export async function seedDemo({ home, system, screen, signal }: Given): Promise<void> {
  const kept = readJson<Credentials>(home.credentials);
  if (kept && system.secrets.demo) {
    if (kept.base_url !== system.baseUrl) writeJson(home.credentials, { ...kept, base_url: system.baseUrl });
    return;
  }
  let phase = 'the demo account';
  const quiet = screen.waiting(() => phase);
  try {
    const demo = system.secrets.demo ?? (await makeAccount(home, system));
    screen.step('demo account');
    const tables = await loadIsoData(system.baseUrl, demo, (what) => {
      signal.throwIfAborted();
      phase = what;
    });
    screen.step(`ISO data: ${describeTables(tables)}`);
    phase = 'its people and their changes';
    signal.throwIfAborted();
    if (demo.people) await addPeopleAndChanges(system.baseUrl, demo, demo.people);
    screen.step('a steward, an approver, and changes that wait for review');
    writeJson(home.credentials, { base_url: system.baseUrl, ...demo } satisfies Credentials);
  } finally {
    quiet();
  }
}

async function addPeopleAndChanges(
  baseUrl: string,
  { admin, application }: DemoAccount,
  people: NonNullable<DemoAccount['people']>,
): Promise<void> {
  const signIn = async (person: Person) =>
    createApi(baseUrl, (await signInPerson(baseUrl, application, person)).access_token);
  const asAdmin = await signIn(admin);
  await ensureDemoPeople(asAdmin, people);
  await ensureDemoRequests({ admin: asAdmin, steward: await signIn(people.steward) });
}

async function makeAccount(home: Home, system: System): Promise<DemoAccount> {
  const operator = await createOperator({
    key: system.secrets.context_keys.operator,
    addresses: readRuntime(home)?.rpc ?? {},
  });
  try {
    const account = await createAccount(operator, {
      name: 'Demo',
      plan: 'business',
      adminEmail: 'admin@demo.example',
      redirectUri: [redirectUri, ...docsRedirectUris].join('\n'),
    });
    const { account_id, admin } = account;
    const application = { ...account.application, redirect_uri: redirectUri };
    const person = (name: string) => ({ email: `${name}@demo.example`, password: newPassword() });
    const people = { steward: person('steward'), approver: person('approver') };
    const demo = { account_id, admin, application, people };
    keepDemoAccount(home, demo);
    return demo;
  } finally {
    operator.close();
  }
}

const newPassword = () => randomBytes(15).toString('base64url');
