import { eventually } from '@almanac/testkit/eventually';
import { givenJobs, type Jobs } from '../given.ts';
import { mailsOf } from './given.ts';
import { MailServer } from './mail-server.ts';

let server: MailServer;
let jobs: Jobs;

beforeAll(async () => {
  server = await new MailServer().start();
  jobs = await givenJobs({ smtpUrl: `smtp://127.0.0.1:${server.port}?tls=none` });
});
afterAll(async () => {
  await jobs.close();
  await server.stop();
});
afterEach(() => {
  server.release();
  server.answers = [];
});

const approvalValues = {
  id: 12,
  by: 'Bob Bauer',
  branch: 'main',
  comment: null,
  changes: { new: 1, modified: 0, deleted: 0 },
  outcome: 'rejected',
  reasons: [],
};

const { person: givenPerson, ask, row: rowOf, job: jobOf, reaches } = mailsOf(() => jobs);

describe('a mail', () => {
  it('goes to each recipient separately, as text and as HTML, with a link of their own', async () => {
    const both = [givenPerson(), givenPerson()];
    const message = await ask('invitation', both);
    for (const person of both) {
      await reaches(person, 'sent');
      const [caught, ...others] = server.mailsTo(person.email);
      expect(others).toEqual([]);
      const { to, from, mail } = caught as NonNullable<typeof caught>;
      expect({ to, from }).toEqual({ to: [person.email], from: 'almanac@example.test' });
      expect(mail.to).toEqual([{ name: `Ada ${person.last_name}`, address: person.email }]);
      expect(mail.from).toEqual({ name: 'Almanac', address: 'almanac@example.test' });
      expect(mail.subject).toBe('You are invited to Account 1 on Almanac');
      expect(mail.messageId).toBe(`<${message.id}.${person.id}@example.test>`);
      const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));
      expect(headers).toMatchObject({ 'auto-submitted': 'auto-generated', 'content-language': 'en' });
      const link = new RegExp(`${jobs.neighbours.publicUrl}/oauth/password\\?token=secret-\\d+`).exec(
        mail.text ?? '',
      )?.[0];
      expect(link).toBeDefined();
      expect(mail.html).toContain(`href="${link}"`);
      expect(mail.text).toContain('31 December 2026 at 10:20 UTC');
    }
    const texts = both.map(({ email }) => server.mailsTo(email)[0]?.mail.text);
    expect(texts[0]).not.toBe(texts[1]);
  });

  it('leaves no secret behind', async () => {
    const person = givenPerson();
    await ask('password_reset', [person], { values: { token: 'not asked for' } });
    const row = await reaches(person, 'sent');
    expect(jobs.neighbours.links.at(-1)).toEqual({ user_id: person.id, account_id: 1, purpose: 'password_reset' });
    const kept = JSON.stringify([row, await jobOf(person), await jobs.context.prisma.outbox.findMany()], bigints);
    expect(kept).not.toMatch(/secret-|not asked for|a\.test/);
  });

  it('is sent once, however often the same message arrives', async () => {
    const person = givenPerson();
    const message = await ask('password_changed', [person, person]);
    await reaches(person, 'sent');
    await jobs.announce(message.type, {}, message);
    const next = givenPerson();
    await ask('password_changed', [next]);
    await reaches(next, 'sent');
    expect(server.mailsTo(person.email)).toHaveLength(1);
  });

  it('is retried after the server deferred it, and accepted once', async () => {
    const person = givenPerson();
    server.answers = [
      { code: 451, text: '4.7.1 Greylisted, try later' },
      { code: 421, text: '4.3.2 I am going down' },
    ];
    await ask('password_changed', [person]);
    expect(await reaches(person, 'sent')).toMatchObject({ attempts: 3, error: null, sent_at: expect.any(Date) });
    expect(server.mailsTo(person.email)).toHaveLength(1);
    expect(
      new Set(server.arrived.filter(({ to }) => to[0] === person.email).map(({ mail }) => mail.messageId)).size,
    ).toBe(1);
  });

  it('fails with the words of a server that refuses it, and operators can retry it', async () => {
    const person = givenPerson();
    server.unknown.add(person.email);
    await ask('invitation', [person]);
    const { id, error, attempts } = await reaches(person, 'failed');
    expect(error).toContain(`550 5.1.1 <${person.email}> is unknown`);
    expect(attempts).toBe(1);
    expect((await jobOf(person)).state).toBe('failed');
    server.unknown.delete(person.email);
    expect(await jobs.retry(`mail-${id}`)).toBe('queued');
    await reaches(person, 'sent');
    expect(server.mailsTo(person.email)).toHaveLength(1);
    await expect(jobs.retry(`mail-${id}`)).rejects.toThrow('The mail is sent; only failed work can be tried again.');
  });

  it('does not repeat the link that a filter quotes', async () => {
    const person = givenPerson();
    server.answers = [
      { code: 554, text: '5.7.1 blocked: http://x.test/oauth/password?token=secret-1 (see http://f.test/why)' },
    ];
    await ask('invitation', [person]);
    const { error } = await reaches(person, 'failed');
    expect(error).toContain('http://x.test/oauth/password?… (see http://f.test/why)');
  });

  it('waits while the server is unavailable, and arrives afterwards', async () => {
    await server.stop();
    const person = givenPerson();
    await ask('invitation', [person]);
    await eventually(async () => expect((await jobOf(person)).deferrals).toBeGreaterThan(2));
    expect(await rowOf(person)).toMatchObject({
      status: 'queued',
      error: expect.stringContaining('did not take the mail'),
    });
    await server.start();
    await reaches(person, 'sent');
    expect(server.mailsTo(person.email)).toHaveLength(1);
  });

  it('is sent at most once more when its sender dies between sending and recording', async () => {
    const person = givenPerson();
    const second = await jobs.another({ smtpUrl: `smtp://127.0.0.1:${server.port}?tls=none` });
    try {
      server.hold();
      await ask('invitation', [person]);
      await eventually(() => expect(server.arrived.filter(({ to }) => to[0] === person.email)).toHaveLength(1));
      // As if its process had stalled for longer than its lease.
      await jobs.context.prisma.job.updateMany({
        where: { kind: 'mail', state: 'running' },
        data: { run_id: null, lease_until: new Date(0) },
      });
      await eventually(() => expect(server.arrived.filter(({ to }) => to[0] === person.email)).toHaveLength(2));
      server.release();
      await reaches(person, 'sent');
      await eventually(async () => expect((await jobOf(person)).state).toBe('done'));
    } finally {
      await second.stop();
    }
    const copies = server.arrived.filter(({ to }) => to[0] === person.email);
    expect(copies).toHaveLength(2);
    expect(new Set(copies.map(({ mail }) => mail.messageId)).size).toBe(1);
  });

  it.each([
    ['"a@evil.test, b"', '<c@evil.test>'],
    ['Eve\r\nBcc: evil@evil.test', '\u202Egnp.exe\u0000'],
    ['a@evil.test,', 'Ünï "quoted" (comment) ; <x>'],
  ])('has one recipient only, whatever their name is: %j', async (first_name, last_name) => {
    const person = givenPerson({ first_name, last_name });
    await ask('invitation', [person]);
    await reaches(person, 'sent');
    const [caught] = server.mailsTo(person.email);
    expect(caught?.to).toEqual([person.email]);
    expect(caught?.mail.to?.map(({ address }) => address)).toEqual([person.email]);
    expect(caught?.mail.bcc ?? caught?.mail.cc ?? []).toEqual([]);
    expect(caught?.raw).not.toMatch(/^bcc:/im);
    expect(caught?.mail.text).not.toContain('\u202E');
  });

  it.each([
    'a@a.test\r\nRCPT TO:<evil@evil.test>',
    'a@a.test, evil@evil.test',
    '<evil@evil.test>',
    'a@a.test\u0000',
    'no-address',
  ])('is not sent to %j, which is no address', async (email) => {
    const person = givenPerson({ email });
    const before = server.arrived.length;
    await ask('invitation', [person]);
    expect((await reaches(person, 'failed')).error).toContain('no mail can be sent to');
    expect(server.arrived).toHaveLength(before);
  });

  it('is not sent to a closed account', async () => {
    const person = givenPerson({ account_id: 3 });
    jobs.neighbours.closedAccounts.add(3);
    await ask('invitation', [person], { account_id: 3 });
    expect((await reaches(person, 'skipped')).error).toBe('The account is closed.');
    expect(server.mailsTo(person.email)).toEqual([]);
  });

  it('never links to another address than that of this system', async () => {
    const person = givenPerson();
    const { publicUrl } = jobs.neighbours;
    jobs.neighbours.publicUrl = `${publicUrl}.evil.test`;
    await ask('invitation', [person]);
    await eventually(async () => expect((await rowOf(person)).error).toContain('ALMANAC_PUBLIC_URL'));
    expect(await rowOf(person)).toMatchObject({ status: 'queued', attempts: 0 });
    jobs.neighbours.publicUrl = publicUrl;
    await reaches(person, 'sent');
    expect(server.mailsTo(person.email)[0]?.mail.text).toContain(`${publicUrl}/oauth/password`);
  });

  it('sends its link to the address that the user has after the link was made', async () => {
    const person = givenPerson();
    const old = person.email;
    jobs.neighbours.onLink = () => Object.assign(person, { email: `new-${old}` });
    await ask('password_reset', [person]);
    await reaches(person, 'sent');
    jobs.neighbours.onLink = () => {};
    expect([server.mailsTo(old).length, server.mailsTo(person.email).length]).toEqual([0, 1]);
  });

  it('is not sent to a deleted user, one of another account, or one who no longer needs the link', async () => {
    const foreigner = givenPerson({ account_id: 2 });
    const active = givenPerson();
    jobs.neighbours.needNoLink.add(active.id);
    const deleted = { id: 77_777 };
    await ask('invitation', [foreigner, active, deleted]);
    expect((await reaches(foreigner, 'skipped')).error).toBe('The user no longer exists.');
    expect((await reaches(deleted, 'skipped')).error).toBe('The user no longer exists.');
    expect((await reaches(active, 'skipped')).error).toBe('The user no longer needs the link.');
    expect([...server.mailsTo(foreigner.email), ...server.mailsTo(active.email)]).toEqual([]);
  });

  it.each(['deployment_requested', 'deployment_decided', 'promotion_abandoned', 'password_reset'])(
    'is not sent to a suspended user: %s',
    async (template) => {
      const [suspended, other] = [givenPerson({ status: 'suspended' }), givenPerson()];
      await ask(template, [suspended, other], { values: approvalValues });
      await reaches(other, 'sent');
      expect((await reaches(suspended, 'skipped')).error).toBe('The user is suspended.');
      expect([server.mailsTo(suspended.email).length, server.mailsTo(other.email).length]).toEqual([0, 1]);
    },
  );

  it('is not sent to a service user, who has no address', async () => {
    const [service, other] = [givenPerson({ email: '' }), givenPerson()];
    await ask('deployment_requested', [service, other], { values: approvalValues });
    await reaches(other, 'sent');
    expect((await reaches(service, 'skipped')).error).toBe('The user is a service user, which has no address.');
  });

  it('is not sent to a user who is suspended while it is rendered', async () => {
    const person = givenPerson();
    jobs.neighbours.onLink = () => {
      person.status = 'suspended';
    };
    await ask('password_reset', [person]);
    expect((await reaches(person, 'skipped')).error).toBe('The user is suspended.');
    jobs.neighbours.onLink = () => {};
    expect(server.mailsTo(person.email)).toEqual([]);
  });
});

const bigints = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
