// Accounts deleted by operators: closed at once, restored within the grace, erased after it, with a
// receipt when every service has reported.
import { createHash } from 'node:crypto';
import { Browser } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import { sweepDeletions } from '../../src/accounts/account-deletion.ts';
import { linkFor } from '../browser/password-forms.ts';
import {
  type Account,
  adminOf,
  authorizeUrl,
  codeOf,
  exchange,
  formOf,
  givenIdentity,
  type Identity,
  logInAlone,
  postForm,
  refresh,
} from '../given.ts';

let identity: Identity;
let account: Account;
let neighbour: Account;
let call: { accountId: number };
let name: string;

beforeAll(async () => {
  identity = await givenIdentity();
});
beforeEach(async () => {
  [account, neighbour] = [await identity.account(), await identity.account()];
  call = { accountId: account.account_id };
  name = (await identity.rpc('operator').GetAccount(call, {})).name;
});
afterAll(() => identity.close());

const operator = () => identity.rpc('operator');
const order = (more: object = {}) => ({ name, grace_days: 30, requested_by: 'ops@example.com', ...more });
const query = (text: string, ...values: unknown[]) =>
  identity.context.prisma.$queryRawUnsafe<Record<string, unknown>[]>(text, ...values);
const announced = (type: string) =>
  identity.events.filter((event) => event.type === type && event.payload.account_id === account.account_id);
const tokenAs = ({ client_id, client_secret }: Account) =>
  postForm(`${identity.url}/oauth/token`, { grant_type: 'client_credentials', client_id, client_secret });
const isActive = async (token: string) => {
  const { client_id, client_secret } = neighbour;
  return (await postForm(`${identity.url}/oauth/introspect`, { client_id, client_secret, token })).body.active;
};
const canLogIn = async (of: Account) => {
  const browser = new Browser();
  const page = await browser.open(`${identity.url}/oauth/login`);
  return (await browser.submit(page, formOf(page, '/oauth/login'), adminOf(of))).status === 303;
};
const report = (service: string, more: object = {}) =>
  identity.publish(`${service}.account.erased`, { ...{ account_id: account.account_id, counts: {} }, ...more });
const deletion = () => operator().GetAccountDeletion(call, {});

/** Every table with a column for the account, from the catalogue, with its number of rows. */
async function rowsOf(accountId: number): Promise<Record<string, number>> {
  const tables = await query(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'account_id' and table_name <> 'account' order by 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await query(`select count(*)::int as n from "${name}" where account_id = $1`, accountId);
    if (row?.n) counts[String(name)] = Number(row.n);
  }
  return counts;
}

describe('the deletion of an account', () => {
  it('needs its name, an account, and a sensible grace', async () => {
    const refused = (more: object, to = call) => operator().DeleteAccount(to, order(more));
    await expect(refused({ name: 'Acme' })).rejects.toMatchObject({
      kind: 'validation_failed',
      message: expect.stringContaining(`which is "${name}"`),
    });
    await expect(refused({ grace_days: -1 })).rejects.toMatchObject({ kind: 'validation_failed' });
    await expect(refused({ requested_by: ' ' })).rejects.toMatchObject({ kind: 'validation_failed' });
    await expect(refused({}, { accountId: 999_999 })).rejects.toMatchObject({ kind: 'not_found' });
    await expect(operator().RestoreAccount(call, {})).rejects.toMatchObject({ kind: 'wrong_state' });
    await expect(deletion()).rejects.toMatchObject({ kind: 'not_found' });
    expect((await tokenAs(account)).status).toBe(200);
    expect(announced('identity.account.closed')).toEqual([]);
  });

  it('closes it at once: no tokens, no log-in, no links, and the tokens of before are revoked', async () => {
    const granted = (await exchange(identity, account, await codeOf(identity, account))).body;
    const link = await linkFor(identity, account);
    const made = await operator().DeleteAccount(call, order());
    expect(made).toMatchObject({ status: 'closed', requested_by: 'ops@example.com', waiting_for: [], receipt: '' });
    const days = (Date.parse(made.erase_after) - Date.parse(made.closed_at)) / 86_400_000;
    expect(days).toBe(30);
    expect((await tokenAs(account)).status).toBe(401);
    expect((await refresh(identity, account, granted.refresh_token)).status).toBe(401);
    expect(await canLogIn(account)).toBe(false);
    expect((await new Browser().open(link)).status).toBe(410);
    const { revocations } = await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {});
    expect(revocations).toContainEqual(
      expect.objectContaining({ kind: 'account', subject: String(account.account_id), reason: 'account_closed' }),
    );
    await eventually(() => expect(announced('identity.account.closed')).toHaveLength(1));
    expect(announced('identity.account_erasure.requested')).toEqual([]);
    expect((await tokenAs(neighbour)).status).toBe(200);
    expect((await operator().ListAccountDeletions({ accountId: 0 }, {})).deletions[0]).toEqual(made);
  });

  it('is undone within the grace, with all that the account had', async () => {
    const granted = (await exchange(identity, account, await codeOf(identity, account))).body;
    const before = await rowsOf(account.account_id);
    await operator().DeleteAccount(call, order());
    expect(await operator().RestoreAccount(call, {})).toEqual({ name });
    expect((await tokenAs(account)).status).toBe(200);
    expect(await canLogIn(account)).toBe(true);
    expect((await refresh(identity, account, granted.refresh_token)).status).toBe(200);
    const { user, user_group, permission, oauth_application } = await rowsOf(account.account_id);
    expect(before).toMatchObject({ user, user_group, permission, oauth_application });
    const acts = await query('select action from audit_event where account_id = $1 order by id', account.account_id);
    expect(acts.map(({ action }) => action)).toEqual(expect.arrayContaining(['account.deleted', 'account.restored']));
    await expect(deletion()).rejects.toMatchObject({ kind: 'not_found' });
    expect(await isActive(granted.access_token)).toBe(false);
  });

  it('is only brought forward by a repeated order', async () => {
    await operator().DeleteAccount(call, order());
    await expect(operator().DeleteAccount(call, order())).rejects.toMatchObject({
      kind: 'wrong_state',
      message: expect.stringContaining('is closed already'),
    });
    const nearer = await operator().DeleteAccount(call, order({ grace_days: 3 }));
    expect(Date.parse(nearer.erase_after)).toBeLessThan(Date.now() + 3.5 * 86_400_000);
    expect((await operator().DeleteAccount(call, order({ grace_days: 0 }))).status).toBe('erasing');
    await expect(operator().DeleteAccount(call, order({ grace_days: 0 }))).rejects.toMatchObject({
      message: expect.stringContaining('is being erased'),
    });
    await expect(operator().RestoreAccount(call, {})).rejects.toMatchObject({ kind: 'wrong_state' });
  });

  it('begins when the grace has ended, and asks again while a service has not reported', async () => {
    await operator().DeleteAccount(call, order());
    await sweepDeletions(identity.context);
    expect((await deletion()).status).toBe('closed');
    await query(`update account_deletion set erase_after = now() where account_id = $1`, account.account_id);
    await sweepDeletions(identity.context);
    await eventually(() => expect(announced('identity.account_erasure.requested')).toHaveLength(1));
    await sweepDeletions(identity.context);
    await query(
      `update account_deletion set asked_at = now() - interval '11 minutes' where account_id = $1`,
      account.account_id,
    );
    await sweepDeletions(identity.context);
    await eventually(() => expect(announced('identity.account_erasure.requested')).toHaveLength(2));
    await eventually(async () =>
      expect((await deletion()).waiting_for).toEqual(['metadata', 'data', 'jobs', 'billing']),
    );
  });

  it('leaves nothing of it in the database but the receipt, and nothing else changes', async () => {
    await account.admin('POST', '/users', { email: 'second@example.com' });
    await codeOf(identity, account);
    await logInAlone(identity, adminOf(account));
    await postForm(`${identity.url}/oauth/login`, {}); // a try without a user
    const before = await rowsOf(neighbour.account_id);
    const owned = await rowsOf(account.account_id);
    await operator().DeleteAccount(call, order({ grace_days: 0 }));
    await eventually(async () => expect((await deletion()).waiting_for).not.toContain('identity'));
    for (const service of ['metadata', 'jobs', 'data']) await report(service, { counts: { things: 2 } });
    await report('data', { counts: { things: 5 } }); // the first report counts
    await report('billing', { facts: { statements: [{ month: '2026-11', calls: 7 }] } });
    await eventually(async () => expect((await deletion()).status).toBe('erased'));

    expect(await rowsOf(account.account_id)).toEqual({ account_deletion: 1, account_erasure: 1, revocation: 1 });
    expect(await query('select id from account where id = $1', account.account_id)).toEqual([]);
    expect(
      await query(`select type from outbox where payload->>'account_id' = $1`, String(account.account_id)),
    ).toEqual([]);
    expect(await rowsOf(neighbour.account_id)).toEqual(before);
    const { removed, kept, digest, ...facts } = JSON.parse((await deletion()).receipt);
    expect(removed).toMatchObject({ identity: { user: 2, user_group: owned.user_group }, data: { things: 2 } });
    expect(kept).toEqual({ billing: { statements: [{ month: '2026-11', calls: 7 }] } });
    expect(facts).toMatchObject({ account_id: account.account_id, name, requested_by: 'ops@example.com' });
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    await expect(operator().DeleteAccount(call, order())).rejects.toMatchObject({
      kind: 'wrong_state',
      message: expect.stringContaining('was erased'),
    });
    await expect(operator().GetAccount(call, {})).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('keeps entries of the audit log out that arrive after it', async () => {
    await operator().DeleteAccount(call, order({ grace_days: 0 }));
    await eventually(async () => expect((await deletion()).waiting_for).not.toContain('identity'));
    await identity.publish('metadata.audit.requested', { account_id: account.account_id, action: 'domain.created' });
    await identity.publish('metadata.audit.requested', { account_id: neighbour.account_id, action: 'domain.created' });
    await eventually(async () =>
      expect(
        await query(`select account_id from audit_event where action = 'domain.created' and account_id = any($1)`, [
          account.account_id,
          neighbour.account_id,
        ]),
      ).toEqual([{ account_id: neighbour.account_id }]),
    );
  });

  it('is the only reason for which entries of the audit log can be deleted', async () => {
    const remove = query('delete from audit_event where account_id = $1', neighbour.account_id);
    await expect(remove).rejects.toThrow('append-only');
    await operator().DeleteAccount(
      { accountId: neighbour.account_id },
      order({ name: (await operator().GetAccount({ accountId: neighbour.account_id }, {})).name }),
    );
    await expect(query('delete from audit_event where account_id = $1', neighbour.account_id)).rejects.toThrow(
      'append-only',
    );
    await expect(query('truncate audit_event')).rejects.toThrow('append-only');
  });

  it('has a receipt whose digest is that of its sorted members', async () => {
    await operator().DeleteAccount(call, order({ grace_days: 0 }));
    for (const service of ['metadata', 'jobs', 'data', 'billing']) await report(service, { counts: { b: 1, a: 2 } });
    await eventually(async () => expect((await deletion()).status).toBe('erased'));
    const { digest, ...facts } = JSON.parse((await deletion()).receipt);
    const [row] = await query(`select encode(sha256(convert_to($1, 'utf8')), 'hex') as hash`, canonical(facts));
    expect(digest).toBe(`sha256:${row?.hash}`);
    expect(
      createHash('sha256')
        .update(canonical({ ...facts, name: 'X' }))
        .digest('hex'),
    ).not.toBe(row?.hash);
  });
});

// Written apart from the code: members by name, at every depth.
const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join(',')}]`
    : typeof value === 'object' && value !== null
      ? `{${Object.keys(value)
          .sort()
          .map((key) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key])}`)
          .join(',')}}`
      : JSON.stringify(value);

describe('an operator', () => {
  it('lists the users of an account, and its administrators as such', async () => {
    await account.admin('POST', '/users', { email: 'second@example.com', license_type: 'end_user' });
    const { users } = await operator().ListAccountUsers(call, {});
    expect(users).toEqual([
      expect.objectContaining({ email: account.admin_email, status: 'active', administrator: true }),
      expect.objectContaining({
        email: 'second@example.com',
        status: 'invited',
        license_type: 'end_user',
        administrator: false,
      }),
    ]);
    await expect(operator().ListAccountUsers({ accountId: 999_999 }, {})).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('authorizeUrl', () => {
  it('of a closed account is an unknown client', async () => {
    await operator().DeleteAccount(call, order());
    expect((await new Browser().open(authorizeUrl(identity, account))).status).toBe(400);
  });
});
