import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { refusal } from '@almanac/testkit/calls/refusal';
import PostalMime from 'postal-mime';
import { sweep } from '../../src/maintenance/sweeper.ts';
import { givenJobs, type Jobs } from '../given.ts';
import { mailsOf } from './given.ts';

let jobs: Jobs;
let folder: string;

beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'almanac-mail-')), 'mail ö');
  jobs = await givenJobs({ smtpUrl: pathToFileURL(folder).href });
});
afterAll(async () => {
  await jobs.close();
  await rm(join(folder, '..'), { recursive: true, force: true });
});

const mails = mailsOf(() => jobs);
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${jobs.url}/dev/mail${path}`, { headers });
const nameOf = async (user: { id: number }) => {
  const { id } = await mails.reaches(user, 'sent');
  const name = (await readdir(folder)).find((file) => file.endsWith(`-mail-${id}.eml`));
  if (!name) throw new Error('the mail is not in the folder');
  return name.slice(0, -'.eml'.length);
};

describe('the mail folder', () => {
  it('holds one complete file for each mail, readable by its owner only', async () => {
    const person = mails.person({ first_name: 'Zoë' });
    await mails.ask('invitation', [person]);
    const path = join(folder, `${await nameOf(person)}.eml`);
    const mail = await PostalMime.parse(await readFile(path));
    expect(mail.to).toEqual([{ name: `Zoë ${person.last_name}`, address: person.email }]);
    expect(mail.text).toContain(`${jobs.neighbours.publicUrl}/oauth/password?token=secret-`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await readdir(folder)).filter((name) => !/^\d{8}T\d{6}Z-mail-\d+\.eml$/.test(name))).toEqual([]);
  });

  it('is created again when it was deleted', async () => {
    await rm(folder, { recursive: true });
    const person = mails.person();
    await mails.ask('password_changed', [person]);
    await expect(nameOf(person)).resolves.toEqual(expect.any(String));
  });

  it('deletes mails after a month, and leaves other files alone', async () => {
    const person = mails.person();
    await mails.ask('password_changed', [person]);
    const old = `${await nameOf(person)}.eml`;
    const files = [old, '.20260101T000000Z-mail-1.eml.77', 'notes.eml'];
    for (const name of files.slice(1)) await writeFile(join(folder, name), '');
    for (const name of files) await utimes(join(folder, name), new Date(0), new Date(0));
    await sweep(jobs.context);
    expect((await readdir(folder)).filter((name) => files.includes(name))).toEqual(['notes.eml']);
  });
});

describe('/dev/mail', () => {
  it('lists the mails, the latest first, and shows each as text and as HTML', async () => {
    const [one, two] = [mails.person({ first_name: '<script>alert(1)</script>' }), mails.person()];
    await mails.ask('invitation', [one]);
    const first = await nameOf(one);
    await mails.ask('password_reset', [two]);
    const second = await nameOf(two);
    const list = await get('');
    const page = await list.text();
    expect(page.indexOf(`/dev/mail/${second}`)).toBeGreaterThan(0);
    expect(page.indexOf(`/dev/mail/${first}`)).toBeGreaterThan(page.indexOf(`/dev/mail/${second}`));
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toContain('<script');

    const shown = await (await get(`/${first}`)).text();
    const link = /href="(http:\/\/127\.0\.0\.1:\d+\/oauth\/password\?token=secret-\d+)"/.exec(shown)?.[1];
    expect(link?.startsWith(jobs.neighbours.publicUrl)).toBe(true);
    expect(shown).not.toContain('<script');
    expect(shown).toMatch(/<iframe [^>]*sandbox="allow-popups allow-popups-to-escape-sandbox"/);

    const alone = await get(`/${first}/html`);
    expect(alone.headers.get('content-security-policy')).toMatch(/default-src 'none';.*sandbox/);
    expect(await alone.text()).toContain(`href="${link}"`);
  });

  it('runs nothing, loads nothing and cannot be framed', async () => {
    const { headers } = await get('');
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; frame-src 'self'/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each(['10.1.2.3', '2001:db8::1', '127.0.0.1, 10.1.2.3', 'unknown'])('does not exist for %s', async (address) => {
    const person = mails.person();
    await mails.ask('password_changed', [person]);
    const name = await nameOf(person);
    for (const path of ['', `/${name}`, `/${name}/html`]) {
      const answer = await get(path, { 'x-forwarded-for': address });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual(refusal('Not found', 'unknown_address', 'There is nothing at this address.'));
    }
    expect((await get('', { 'x-forwarded-for': '10.1.2.3, 127.0.0.1' })).status).toBe(200);
  });

  it.each(['/..%2f..%2fsecrets', '/notes', '/20260101T000000Z-mail-1', '/20260101T000000Z-mail-1/other'])(
    'opens no file but the mails of the folder: %s',
    async (path) => {
      await writeFile(join(folder, 'notes.eml'), 'Subject: x\r\n\r\nx');
      expect((await get(path)).status).toBe(404);
    },
  );

  it('does not exist where mails are sent or queued, or the public address is another machine', async () => {
    const smtp = await jobs.another({ smtpUrl: 'smtp://127.0.0.1:1?tls=none' });
    const waiting = await jobs.another();
    const isPublic = await jobs.another({ smtpUrl: pathToFileURL(folder).href, publicUrl: 'https://almanac.test' });
    try {
      for (const { url } of [smtp, waiting, isPublic]) expect((await fetch(`${url}/dev/mail`)).status).toBe(404);
    } finally {
      await Promise.all([smtp.stop(), waiting.stop(), isPublic.stop()]);
    }
  });
});
