// The mails that people get, as the mail folder of a system on this machine has them.

import { eventually } from '@almanac/testkit/eventually';
import { type Account, givenAccount, mainBranchId, unique } from '@almanac/testkit/system/builders';

type Made = { id: number };

const page = async (account: Account, path: string) => {
  const answer = await fetch(`${account.baseUrl}${path}`);
  return { status: answer.status, text: await answer.text() };
};

/** The HTML page of the only mail to this address. */
async function mailTo(account: Account, email: string): Promise<string> {
  const name = await eventually(async () => {
    const { text } = await page(account, '/dev/mail');
    const mails = [...text.matchAll(/<li>.*?<\/li>/gs)].filter(([item]) => item.includes(email));
    expect(mails).toHaveLength(1);
    return /href="\/dev\/mail\/([\w-]+)"/.exec(mails[0]?.[0] ?? '')?.[1];
  });
  return (await page(account, `/dev/mail/${name}`)).text;
}

describe('mails', () => {
  it('invite a new user with a link to this system', async () => {
    const account = await givenAccount();
    const email = `invited-${unique()}@example.com`;
    const user = await (await account.person()).post('/users', { email, first_name: 'Ada', last_name: 'Lovelace' });
    expect(user).toMatchObject({ email, status: 'invited' });
    const mail = await mailTo(account, email);
    expect(mail).toContain('You are invited to');
    expect(mail).toContain('Hello Ada Lovelace,');
    const link = /href="([^"]*\/oauth\/password\?token=[\w-]{40,})"/.exec(mail)?.[1];
    expect(link?.startsWith(`${account.baseUrl}/oauth/password?`)).toBe(true);
  });

  it('inform the approvers that a deployment is abandoned, even if their only member abandoned it', async () => {
    const email = `admin-${unique()}@example.com`;
    const account = await givenAccount({ email });
    const admin = await account.person();
    const main = await mainBranchId(admin);
    const domain = await admin.post<Made>('/domains', { domain: { name: `Domain ${unique()}` } });
    const table = await admin.post<Made>('/table_definitions', {
      branch_id: main,
      table_definition: { name: `Codes ${unique()}`, domain_id: domain.id },
    });
    const body = { branch_id: main, table_definition_ids: [table.id] };
    const { id } = await admin.post<Made>('/deployments', body);
    await admin.post(`/deployments/${id}/abandon`, { comment: 'Not needed' });
    const mail = await mailTo(account, email);
    expect(mail).toContain('A deployment to main was abandoned');
    expect(mail).toContain('The comment: Not needed');
  });
});
