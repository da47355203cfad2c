// For random sequences of everything that can be done to tokens, with two gateways and two
// instances of identity: no dead token is ever accepted, no living one is refused, and none can do
// more than its application.
import { createApi } from '@almanac/api-client/api';
import { Browser } from '@almanac/api-client/browser';
import { signInMachine } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { type Instances, startInstances } from '@almanac/testkit/system/instances';
import fc from 'fast-check';
import { ask, type Command, commands, type System } from './token-commands.ts';
import { type AccessToken, type Application, common, type Model, type Scope, scopes, verdict } from './token-model.ts';

const redirect_uri = 'http://127.0.0.1:9876/callback';

let instances: Instances;

beforeAll(async () => {
  instances = await startInstances();
});
afterAll(() => instances?.stop());

const probes: Record<Scope, [method: string, path: string]> = {
  'api:read': ['GET', '/permissions'],
  'api:write': ['POST', '/user_group_assignments'],
  'api:delete': ['DELETE', '/user_group_assignments/2147483647'],
  'api:admin': ['GET', '/users?per_page=1'],
};

/** What a gateway makes of a token: 'dead', or those of the probed scopes that it allows. */
async function observe(gateway: string, { text }: AccessToken, probed: readonly Scope[] = scopes): Promise<string> {
  const api = createApi(gateway, text);
  const seen = await Promise.all(
    probed.map(async (scope) => {
      const { status, body } = await api.send<{ error?: string } | undefined>(...probes[scope]);
      if (status === 401) return 'dead';
      expect(status).toBeLessThan(500);
      return body?.error === `Insufficient scope. Required: ${scope}` ? undefined : scope;
    }),
  );
  if (seen.every((each) => each === 'dead')) return 'dead';
  return seen.filter((each) => each !== undefined).join(' ');
}

const everywhere = (token: AccessToken, probed?: readonly Scope[]) =>
  Promise.all(instances.gateways.map((gateway) => observe(gateway, token, probed)));

/** The model's verdict, limited to these scopes. */
const due = (token: AccessToken, probed: readonly Scope[] = scopes) => {
  const all = verdict(token);
  return all === 'dead'
    ? all
    : all
        .split(' ')
        .filter((scope) => probed.some((each) => each === scope))
        .join(' ');
};

/** Gateways soon agree on what a command changed, and always agree on the rest. */
async function expectAgreement(model: Model, before: Map<AccessToken, string>, dice: number): Promise<void> {
  const changed = model.tokens.filter((token) => before.get(token) !== verdict(token));
  const same = model.tokens.filter((token) => !changed.includes(token));
  await Promise.all(
    changed.map((token) =>
      eventually(async () => expect(await everywhere(token)).toEqual(instances.gateways.map(() => due(token)))),
    ),
  );
  const sample = same.filter((_token, i) => (i + dice) % Math.ceil(same.length / 3) === 0);
  const probed = [scopes[dice % scopes.length] as Scope];
  for (const token of sample)
    expect(await everywhere(token, probed)).toEqual(instances.gateways.map(() => due(token, probed)));
  for (const token of [...changed, ...sample].slice(0, 3)) await expectIntrospection(token);
}

/** Identity reports the same of a token as the gateways do. */
async function expectIntrospection(token: AccessToken): Promise<void> {
  const { application, granted } = token;
  if (!application.isAlive || application.secrets.length === 0) return;
  const answers = await Promise.all(
    instances.identities.map((url) => ask(url, 'introspect', application, { token: token.text })),
  );
  const isActive = verdict(token) !== 'dead' && verdict(token) !== '';
  for (const { body } of answers)
    expect(body).toMatchObject(
      isActive ? { active: true, scope: common(granted, application.scope) } : { active: false },
    );
}

const enoughMs = 25_000;
let accounts = 0;

/** An account for each sequence, with three applications, one of them public, and three users. */
async function begin(): Promise<{ model: Model; real: System }> {
  const made = await instances.operator.CreateAccount(
    { accountId: 0 },
    { name: `Account ${++accounts}`, admin_email: `admin${accounts}@example.com`, redirect_uri, plan: 'business' },
  );
  const [publicUrl = ''] = instances.gateways;
  const { access_token } = await signInMachine(publicUrl, made);
  const admin = createApi(publicUrl, access_token);
  const applications = await Promise.all(
    [true, true, false].map(async (confidential, i): Promise<Application> => {
      const attributes = { name: `Application ${i}`, redirect_uri, confidential, scopes: 'api' };
      const { id, client_id, client_secret } = await admin.post('/oauth_applications', attributes);
      return { id, client_id, redirect_uri, secrets: confidential ? [client_secret] : [], scope: 'api', isAlive: true };
    }),
  );
  const users = await Promise.all(
    [1, 2, 3].map(async (number) => {
      const person = { email: `user${number}@example.com`, password: 'correct horse battery' };
      const { id } = await admin.post('/users', person);
      return { id, ...person, browser: new Browser(), isAlive: true };
    }),
  );
  return { model: { applications, users, families: [], tokens: [] }, real: { ...instances, admin } };
}

/** The command with its checks, in fast-check's form. */
const arbitrary = (name: string, act: Command) =>
  fc.record({ one: fc.nat(1_000), two: fc.nat(1_000), three: fc.nat(1_000) }).map((dice) => ({
    check: () => true,
    run: async (model: Model, real: System) => {
      const before = new Map(model.tokens.map((token) => [token, verdict(token)]));
      await act(model, real, dice);
      await expectAgreement(model, before, dice.one);
    },
    toString: () => `${name}(${dice.one}, ${dice.two}, ${dice.three})`,
  }));

it('tokens live and die everywhere as they should', async () => {
  // Commands that issue tokens are more frequent, so that there are tokens to revoke.
  const giving: Command[] = [commands.machineToken, commands.grantByUser, commands.useRefreshToken];
  const all = Object.entries(commands).flatMap(([name, act]) =>
    Array<ReturnType<typeof arbitrary>>(giving.includes(act) ? 3 : 1).fill(arbitrary(name, act)),
  );
  const endsAt = Date.now() + enoughMs;
  let done = 0;
  const property = fc.asyncProperty(fc.commands(all, { size: 'max', maxCommands: 30 }), async (sequence) => {
    if (done > 0 && Date.now() > endsAt) return; // a slow machine has seen enough
    const state = await begin();
    await fc.asyncModelRun(async () => state, sequence);
    for (const token of state.model.tokens)
      expect(await everywhere(token)).toEqual(instances.gateways.map(() => due(token)));
    done += 1;
  });
  // A failure prints its seed and path, which repeat it here. Shrinking would take long.
  await fc.assert(property, { numRuns: 6, endOnFailure: true });
});
