// What an account learns of its calls and its payment: statements, and mails to its administrators.
// Webhooks of a payment provider are off until an operator configures a secret.

import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, baseUrl, givenAccount } from '@almanac/testkit/system/builders';
import { admin, runAdmin } from '@almanac/testkit/system/system';

/** The mails to the account's administrator whose subject has these words. */
async function mailsTo(account: Account, words: string): Promise<string[]> {
  const list = await (await fetch(`${baseUrl()}/dev/mail`)).text();
  const items = [...list.matchAll(/<li>.*?<\/li>/gs)].map(([item]) => item);
  return items.filter((item) => item.includes(account.admin.email) && item.includes(words));
}

describe('the statement of a month', () => {
  it('is the same over the API and by the operators’ command line, and has every call', async () => {
    const account = await givenAccount({ plan: 'plus' });
    const api = await account.machine();
    for (let call = 0; call < 7; call += 1) await api.get('/domains');
    const answer = await fetch(`${baseUrl()}/api/v1/usage/statement`, {
      headers: { authorization: `Bearer ${api.token}` },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const csv = await answer.text();
    expect(csv).toMatch(/^\d{4}-\d\d,plan,\d{4}-.*Z,plus,15000,/m);
    expect(csv).toMatch(/^\d{4}-\d\d,usage,,,,\d+,GET,domains,7,/m);
    const shown = await runAdmin(['billing', 'statement', String(account.id)]);
    const usageOf = (text: string) => text.split(/\r?\n/).filter((line) => line.includes(',domains,'));
    expect(usageOf(shown.stdout)).toEqual(usageOf(csv));
    const usage = await admin<{ calls: { resource: string; calls: number }[] }>([
      'billing',
      'usage',
      String(account.id),
    ]);
    expect(usage.calls).toContainEqual(expect.objectContaining({ resource: 'domains', calls: 7 }));
  });

  it('is shown to no other account', async () => {
    const [account, other] = [await givenAccount(), await givenAccount()];
    await (await other.machine()).get('/branches');
    const api = await account.machine();
    expect((await api.send('GET', `/usage/statement?account_id=${other.id}`)).status).toBe(400);
    const { data } = await api.get('/usage?q=resource:eq:branches');
    expect(data).toEqual([]);
  });
});

describe('administrators', () => {
  it('get one mail when payment becomes overdue, and one at 80 and at 100 percent of the allowance', async () => {
    const account = await givenAccount({ plan: 'free', allowance: 20 });
    const set = (...options: string[]) => admin(['accounts', 'update', String(account.id), ...options]);
    for (let time = 0; time < 2; time += 1) {
      await set('--billing-status', 'overdue');
      await set('--billing-status', 'current');
    }
    const api = await account.machine();
    for (let call = 0; call < 17; call += 1) await api.get('/domains');
    await eventually(async () => expect(await mailsTo(account, 'has used 80 %')).toHaveLength(1));
    await eventually(async () => expect((await api.send('GET', '/domains')).status).toBe(429));
    await eventually(async () => expect(await mailsTo(account, 'has used up its API calls')).toHaveLength(1));
    await eventually(async () => expect(await mailsTo(account, 'is overdue')).toHaveLength(1));
    const events = await admin<{ billing_status: string }[]>(['billing', 'payments', String(account.id)]);
    const statuses = events.map(({ billing_status }) => billing_status).filter((status) => status !== '');
    expect(statuses).toEqual(['current', 'overdue', 'current', 'overdue']);
  });
});

describe('the address for a payment provider', () => {
  it('is closed where no secret is configured', async () => {
    const answer = await fetch(`${baseUrl()}/webhooks/payments`, { method: 'POST', body: '{}' });
    expect([answer.status, await answer.json()]).toEqual([
      404,
      refusal('Not found', 'unknown_address', 'There is nothing at this address.'),
    ]);
  });
});
