// Every operation that issues or revokes tokens or changes their rights, as commands for the
// property test: each runs on the system, checks the answer, and updates the model.
import { createHash, randomBytes } from 'node:crypto';
import type { Api } from '@almanac/api-client/api';
import { walkThrough } from '@almanac/api-client/sign-in';
import type { Instances } from '@almanac/testkit/system/instances';
import { type Application, common, type Family, given, isLivingFamily, type Model, type User } from './token-model.ts';

/** The system with an account of its own, and an administrator's client of its API. */
export type System = Instances & { admin: Api };

/** Random numbers: which application, which token, which instance … */
type Dice = { one: number; two: number; three: number };
export type Command = (model: Model, system: System, dice: Dice) => Promise<void>;

type Answer = { status: number; body: Record<string, string> };

const asks = [undefined, undefined, 'api', 'api:read', 'api:write', 'api:read api:write', 'api:delete', 'api:admin'];
const pick = <T>(list: T[], number: number) => list[number % list.length] as T;
const some = <T>(list: T[], number: number) => (list.length > 0 ? pick(list, number) : undefined);
const living = (model: Model) => model.applications.filter(({ isAlive }) => isAlive);
const confidential = (model: Model) => living(model).filter(({ secrets }) => secrets.length > 0);

/** A request of an application to an OAuth endpoint of one instance, with one of its secrets. */
export async function ask(
  url: string,
  endpoint: string,
  { client_id, secrets }: Pick<Application, 'client_id' | 'secrets'>,
  form: Record<string, string | undefined>,
): Promise<Answer> {
  const secret = secrets.length > 0 ? { client_secret: pick(secrets, Date.now()) } : {};
  const pairs = Object.entries({ client_id, ...secret, ...form }).filter((pair) => pair[1] !== undefined);
  const response = await fetch(`${url}/oauth/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams(pairs as [string, string][]),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

const token = (system: System, dice: Dice, application: Application, form: Record<string, string | undefined>) =>
  ask(pick(system.identities, dice.three), 'token', application, form);

/**
 * Compares an answer of the token endpoint with the scope that is due; `otherwise`: the error if
 * none is.
 */
function expectTokens(answer: Answer, due: string | undefined, otherwise: string): void {
  const { error, scope } = answer.body;
  expect({ status: answer.status, ...(error ? { error } : { scope }) }).toEqual(
    due === undefined ? { status: 400, error: otherwise } : { status: 200, scope: due },
  );
}

const machineToken: Command = async (model, system, dice) => {
  const application = some(confidential(model), dice.one);
  if (!application) return;
  const scope = pick(asks, dice.two);
  const answer = await token(system, dice, application, { grant_type: 'client_credentials', scope });
  const granted = given(application.scope, scope);
  expectTokens(answer, granted, 'invalid_scope');
  if (granted) model.tokens.push({ text: answer.body.access_token as string, application, granted, isRevoked: false });
};

type Code = { code: string; redirect_uri: string; code_verifier: string; allowed: string };

/** Sends a user through the pages; undefined: the application lacks the requested scope. */
async function codeOf(system: System, application: Application, user: User, scope?: string): Promise<Code | undefined> {
  const { client_id, redirect_uri } = application;
  const code_verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
  const url = new URL(`${system.gateways[0]}/oauth/authorize`);
  const request = { response_type: 'code', client_id, redirect_uri, code_challenge, code_challenge_method: 'S256' };
  url.search = new URLSearchParams({ ...request, ...(scope ? { scope } : {}) }).toString();
  const callback = await walkThrough(user.browser, url.href, redirect_uri, user);
  const code = callback.searchParams.get('code');
  const allowed = given(application.scope, scope);
  expect([callback.searchParams.get('error'), code !== null]).toEqual(
    allowed ? [null, true] : ['invalid_scope', false],
  );
  return code && allowed ? { code, redirect_uri, code_verifier, allowed } : undefined;
}

function addFamily(model: Model, answer: Answer, application: Application, user: User, allowed: string): Family {
  const refreshToken = answer.body.refresh_token as string;
  const family = { application, user, allowed, refreshToken, used: [], isAlive: true };
  model.families.push(family);
  addToken(model, answer, family);
  return family;
}

function addToken(model: Model, { body }: Answer, family: Family): void {
  const { application } = family;
  const [text, granted] = [body.access_token as string, body.scope as string];
  model.tokens.push({ text, application, family, granted, isRevoked: false });
}

const grantByUser: Command = async (model, system, dice) => {
  const application = some(living(model), dice.one);
  const user = some(
    model.users.filter(({ isAlive }) => isAlive),
    dice.two,
  );
  if (!application || !user) return;
  const code = await codeOf(system, application, user, pick(asks, dice.three));
  if (!code) return;
  const { allowed, ...form } = code;
  const answer = await token(system, dice, application, { grant_type: 'authorization_code', ...form });
  expectTokens(answer, allowed, 'invalid_grant');
  addFamily(model, answer, application, user, allowed);
};

/**
 * One code twice at the same instant, on different instances: tokens are issued once, and revoked
 * at once, since the code has leaked.
 */
const codeTwiceAtOnce: Command = async (model, system, dice) => {
  const application = some(living(model), dice.one);
  const user = some(
    model.users.filter(({ isAlive }) => isAlive),
    dice.two,
  );
  if (!application || !user) return;
  const code = await codeOf(system, application, user);
  if (!code) return;
  const { allowed, ...form } = code;
  const answers = await Promise.all(
    system.identities.map((url) => ask(url, 'token', application, { grant_type: 'authorization_code', ...form })),
  );
  const won = expectOneWinner(answers);
  addFamily(model, won, application, user, allowed).isAlive = false;
};

function expectOneWinner(answers: Answer[]): Answer {
  expect(answers.map(({ status, body }) => body.error ?? status).toSorted()).toEqual([200, 'invalid_grant']);
  return answers.find(({ status }) => status === 200) as Answer;
}

const refresh = { grant_type: 'refresh_token' };

function keep(model: Model, family: Family, answer: Answer): void {
  family.used.push(family.refreshToken);
  family.refreshToken = answer.body.refresh_token as string;
  addToken(model, answer, family);
}

const useRefreshToken: Command = async (model, system, dice) => {
  const family = some(model.families, dice.one);
  if (!family?.application.isAlive) return;
  const { application, allowed, refreshToken } = family;
  const scope = pick(asks, dice.two);
  const answer = await token(system, dice, application, { ...refresh, refresh_token: refreshToken, scope });
  if (!isLivingFamily(family)) return expectTokens(answer, undefined, 'invalid_grant');
  const granted = given(common(allowed, application.scope), scope);
  expectTokens(answer, granted, 'invalid_scope');
  if (granted) keep(model, family, answer);
};

const refreshTwiceAtOnce: Command = async (model, system, dice) => {
  const family = some(model.families.filter(isLivingFamily), dice.one);
  if (!family || common(family.allowed, family.application.scope) === undefined) return;
  const form = { ...refresh, refresh_token: family.refreshToken };
  const answers = await Promise.all(system.identities.map((url) => ask(url, 'token', family.application, form)));
  keep(model, family, expectOneWinner(answers));
  family.isAlive = false;
};

const reuseRefreshToken: Command = async (model, system, dice) => {
  const family = some(
    model.families.filter(({ used, application }) => used.length > 0 && application.isAlive),
    dice.one,
  );
  if (!family) return;
  const form = { ...refresh, refresh_token: pick(family.used, dice.two) };
  expectTokens(await token(system, dice, family.application, form), undefined, 'invalid_grant');
  family.isAlive = false;
};

const revokeAccessToken: Command = async (model, system, dice) => {
  const found = some(
    model.tokens.filter(({ application }) => application.isAlive),
    dice.one,
  );
  if (!found) return;
  const form = { token: found.text };
  const answer = await ask(pick(system.identities, dice.three), 'revoke', found.application, form);
  expect(answer.status).toBe(200);
  found.isRevoked = true;
};

const revokeRefreshToken: Command = async (model, system, dice) => {
  const family = some(
    model.families.filter(({ application }) => application.isAlive),
    dice.one,
  );
  if (!family) return;
  const form = { token: pick([family.refreshToken, ...family.used], dice.two) };
  const answer = await ask(pick(system.identities, dice.three), 'revoke', family.application, form);
  expect(answer.status).toBe(200);
  family.isAlive = false;
};

/** Tokens of another application: the answer is 200, and nothing happens. */
const revokeForeignToken: Command = async (model, system, dice) => {
  const found = some(model.tokens, dice.one);
  const outsider = some(
    living(model).filter((application) => application !== found?.application),
    dice.two,
  );
  if (!found || !outsider) return;
  for (const text of [found.text, found.family?.refreshToken])
    if (text)
      expect((await ask(pick(system.identities, dice.three), 'revoke', outsider, { token: text })).status).toBe(200);
};

/**
 * A refresh and the revocation of its family at the same instant: in either order no token stays
 * valid.
 */
const refreshWhileRevoked: Command = async (model, system, dice) => {
  const family = some(model.families.filter(isLivingFamily), dice.one);
  if (!family || common(family.allowed, family.application.scope) === undefined) return;
  const [one, other] = system.identities as [string, string];
  const [answer] = await Promise.all([
    ask(one, 'token', family.application, { ...refresh, refresh_token: family.refreshToken }),
    ask(other, 'revoke', family.application, { token: family.refreshToken }),
  ]);
  family.isAlive = false;
  if (answer.status === 200) keep(model, family, answer);
  else expect(answer.body.error).toBe('invalid_grant');
};

const secretsPath = ({ id }: Application) => `/oauth_applications/${id}/secrets`;

const addSecret: Command = async (model, system, dice) => {
  const application = some(confidential(model), dice.one);
  if (!application) return;
  const answer = await system.admin.send<{ client_secret: string }>('POST', secretsPath(application));
  expect(answer.status).toBe(application.secrets.length < 2 ? 201 : 422);
  if (answer.status === 201) application.secrets.push(answer.body.client_secret);
};

const deleteSecret: Command = async (model, system, dice) => {
  const application = some(confidential(model), dice.one);
  if (!application) return;
  const { data } = await system.admin.get<{ data: { id: number; hint: string }[] }>(secretsPath(application));
  const { id, hint } = pick(data, dice.two);
  const answer = await system.admin.send('DELETE', `${secretsPath(application)}/${id}`);
  expect(answer.status).toBe(application.secrets.length > 1 ? 204 : 422);
  if (answer.status !== 204) return;
  const deleted = application.secrets.find((secret) => secret.endsWith(hint)) as string;
  application.secrets = application.secrets.filter((secret) => secret !== deleted);
  await expectRefused(system, { ...application, secrets: [deleted] });
};

const regenerateSecret: Command = async (model, system, dice) => {
  const application = some(confidential(model), dice.one);
  if (!application) return;
  const old = application.secrets;
  const { client_secret } = await system.admin.post(`/oauth_applications/${application.id}/regenerate_secret`);
  application.secrets = [client_secret];
  await expectRefused(system, { ...application, secrets: old });
};

async function expectRefused(system: System, application: Application): Promise<void> {
  for (const url of system.identities)
    for (const secret of application.secrets) {
      const answer = await ask(
        url,
        'token',
        { ...application, secrets: [secret] },
        { grant_type: 'client_credentials' },
      );
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    }
}

const changeScopes: Command = async (model, system, dice) => {
  const application = some(living(model), dice.one);
  if (!application) return;
  const scopes = pick(asks, dice.two) ?? 'api';
  await system.admin.patch(`/oauth_applications/${application.id}`, { scopes });
  application.scope = scopes;
};

/** A token issued while its application is narrowed may name more scopes; it can't use them. */
const grantWhileNarrowed: Command = async (model, system, dice) => {
  const application = some(confidential(model), dice.one);
  if (!application) return;
  const scopes = pick(asks, dice.two) ?? 'api';
  const [answer] = await Promise.all([
    token(system, dice, application, { grant_type: 'client_credentials' }),
    system.admin.patch(`/oauth_applications/${application.id}`, { scopes }),
  ]);
  expect(answer.status).toBe(200);
  application.scope = scopes;
  const { access_token, scope } = answer.body;
  model.tokens.push({ text: access_token as string, application, granted: scope as string, isRevoked: false });
};

/** Tokens requested while the application is deleted: some may be issued, and they are dead. */
const deleteApplication: Command = async (model, system, dice) => {
  const application = some(living(model), dice.one);
  if (!application || living(model).length < 2) return;
  const family = model.families.find((each) => each.application === application && isLivingFamily(each));
  const [machine, renewed] = await Promise.all([
    token(system, dice, application, { grant_type: 'client_credentials' }),
    token(system, dice, application, { ...refresh, refresh_token: family?.refreshToken ?? 'none' }),
    system.admin.delete(`/oauth_applications/${application.id}`),
  ]);
  for (const answer of [machine, renewed]) expect(answer.status).toBeLessThan(500);
  application.isAlive = false;
  if (machine.status === 200)
    model.tokens.push({ text: machine.body.access_token as string, application, granted: 'api', isRevoked: false });
  if (renewed.status === 200 && family) keep(model, family, renewed);
};

/** Tokens requested while the user is deleted: likewise. */
const deleteUser: Command = async (model, system, dice) => {
  const user = some(
    model.users.filter(({ isAlive }) => isAlive),
    dice.one,
  );
  const application = some(living(model), dice.two);
  if (!user || !application) return;
  const code = await codeOf(system, application, user);
  if (!code) return;
  const { allowed, ...form } = code;
  const [answer] = await Promise.all([
    token(system, dice, application, { grant_type: 'authorization_code', ...form }),
    system.admin.delete(`/users/${user.id}`),
  ]);
  expect(answer.status).toBeLessThan(500);
  user.isAlive = false;
  if (answer.status === 200) addFamily(model, answer, application, user, allowed);
};

const rotateKeys: Command = async (_model, system) => {
  await system.operator.RotateSigningKey({ accountId: 0 }, {});
};

export const commands = {
  machineToken,
  grantByUser,
  codeTwiceAtOnce,
  useRefreshToken,
  refreshTwiceAtOnce,
  reuseRefreshToken,
  revokeAccessToken,
  revokeRefreshToken,
  revokeForeignToken,
  refreshWhileRevoked,
  addSecret,
  deleteSecret,
  regenerateSecret,
  changeScopes,
  grantWhileNarrowed,
  deleteApplication,
  deleteUser,
  rotateKeys,
} as const satisfies Record<string, Command>;
