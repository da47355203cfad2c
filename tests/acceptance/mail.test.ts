// What people get by mail, as the mail folder of a system on this machine shows it.
import { type Account, givenAccount, unique } from '@almanac/testkit/builders';
import { eventually } from '@almanac/testkit/eventually';

const page = async (account: Account, path: string) => {
  const answer = await fetch(`${account.baseUrl}${path}`);
  return { status: answer.status, text: await answer.text() };
};

/** The page of the one mail that somebody got. */
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
});
