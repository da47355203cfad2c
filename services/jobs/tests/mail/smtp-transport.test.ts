import tls from 'node:tls';
import { mountFiles } from '@almanac/testkit/files/mounted-files';
import { type Certificate, createAuthority, createCertificate } from '@almanac/testkit/network/certificate';
import { createSmtpTransport } from '../../src/mail/transports/smtp-transport.ts';
import { readSmtpUrl } from '../../src/mail/transports/smtp-url.ts';
import type { MailTransport, OutgoingMail } from '../../src/mail/transports/transport.ts';
import { MailServer } from './mail-server.ts';

const login = { user: 'almanac@example.test', pass: 'p:@/% ü' };
const credentials = `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}`;
const mail: OutgoingMail = {
  messageId: 'one@example.test',
  fileName: 'one',
  from: { name: 'Almanac', address: 'almanac@example.test' },
  to: { name: 'Ada', address: 'ada@a.test' },
  subject: 'Hello',
  text: 'Hello\n',
  html: '<p>Hello</p>',
};

let certificate: Certificate;
const trusted = tls.getCACertificates('default');
const open: { stop(): unknown }[] = [];

beforeAll(() => {
  certificate = createCertificate();
  tls.setDefaultCACertificates([...trusted, certificate.cert]);
});
afterAll(() => tls.setDefaultCACertificates(trusted));
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.stop();
});

async function givenServer(options: ConstructorParameters<typeof MailServer>[0] = {}): Promise<MailServer> {
  const server = await new MailServer(options).start();
  open.push(server);
  return server;
}

function transportTo(server: MailServer, { user = credentials, query = '', protocol = 'smtp' } = {}): MailTransport {
  const url = `${protocol}://${user && `${user}@`}127.0.0.1:${server.port}${query}`;
  const transport = createSmtpTransport(readSmtpUrl(url), 2);
  open.push(transport);
  return transport;
}

const never = new AbortController().signal;

describe('the SMTP transport', () => {
  it('encrypts by STARTTLS, then logs in, then sends', async () => {
    const server = await givenServer({ login, certificate });
    await transportTo(server).send(mail, never);
    expect(server.accepted).toMatchObject([{ isSecure: true, user: login.user, to: ['ada@a.test'] }]);
  });

  it('encrypts from the first byte with smtps', async () => {
    const server = await givenServer({ login, certificate, isSecure: true });
    await transportTo(server, { protocol: 'smtps' }).send(mail, never);
    expect(server.accepted).toMatchObject([{ isSecure: true, user: login.user }]);
  });

  it('sends nothing, not even a password, to a server that offers no TLS', async () => {
    const server = await givenServer({ login });
    await expect(transportTo(server).send(mail, never)).rejects.toMatchObject({ kind: 'unavailable' });
    expect([server.logins, server.arrived]).toEqual([[], []]);
  });

  it('sends nothing to a server whose certificate is not trusted', async () => {
    const server = await givenServer({ login, certificate: createCertificate() });
    await expect(transportTo(server).send(mail, never)).rejects.toMatchObject({ kind: 'unavailable' });
    expect([server.logins, server.arrived]).toEqual([[], []]);
  });

  it('trusts only the authority that its URL names, by STARTTLS and from the first byte', async () => {
    const [authority, other] = [createAuthority(), createAuthority()];
    const folder = mountFiles({ 'ca.crt': authority.cert, 'other.crt': other.cert });
    open.push({ stop: () => folder.remove() });
    const trusting = (name: string) => `?ca_file=${encodeURIComponent(folder.path(name))}`;
    const given = (wishes = {}) => givenServer({ login, certificate: authority.issue(wishes) });
    const server = await given();
    await transportTo(server, { query: trusting('ca.crt') }).send(mail, never);
    const implicit = await givenServer({ login, certificate: authority.issue(), isSecure: true });
    await transportTo(implicit, { protocol: 'smtps', query: trusting('ca.crt') }).send(mail, never);
    expect([...server.accepted, ...implicit.accepted].map(({ isSecure }) => isSecure)).toEqual([true, true]);

    const refused = [
      { server, file: 'other.crt', advice: "No trusted authority has issued the server's certificate" },
      { server: await given({ names: ['elsewhere'] }), file: 'ca.crt', advice: 'is for other names' },
      { server: await given({ days: -1 }), file: 'ca.crt', advice: 'renew it there' },
    ];
    for (const { server: wrong, file, advice } of refused) {
      const before = wrong.logins.length;
      const sent = transportTo(wrong, { query: trusting(file) }).send(mail, never);
      await expect(sent).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining(advice) });
      await expect(sent).rejects.not.toMatchObject({ message: expect.stringContaining(login.pass) });
      expect(wrong.logins).toHaveLength(before);
    }
  });

  it('uses a replaced authority with its next connection', async () => {
    const [before, after] = [createAuthority(), createAuthority()];
    const folder = mountFiles({ 'ca.crt': before.cert });
    open.push({ stop: () => folder.remove() });
    const server = await givenServer({ login, certificate: after.issue() });
    const transport = transportTo(server, { query: `?ca_file=${encodeURIComponent(folder.path('ca.crt'))}` });
    await expect(transport.send(mail, never)).rejects.toMatchObject({ kind: 'unavailable' });
    folder.replace({ 'ca.crt': after.cert });
    await transport.send(mail, never);
    expect(server.accepted).toHaveLength(1);
  });

  it('waits for operators when the server refuses its password, and does not reveal it', async () => {
    const server = await givenServer({ login: { ...login, pass: 'another' }, certificate });
    const refused = transportTo(server).send(mail, never);
    await expect(refused).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('535') });
    const text = await refused.catch((error: Error) => `${error.stack} ${JSON.stringify(error)}`);
    for (const secret of [login.pass, Buffer.from(login.pass).toString('base64')]) expect(text).not.toContain(secret);
  });

  it('works without TLS only when the URL says so', async () => {
    const server = await givenServer();
    await transportTo(server, { user: '', query: '?tls=none' }).send(mail, never);
    expect(server.accepted).toMatchObject([{ isSecure: false, user: undefined }]);
  });

  it('keeps a connection for the next mail, and reconnects when the server has closed it', async () => {
    const server = await givenServer({ login, certificate });
    const transport = transportTo(server);
    for (let i = 0; i < 3; i += 1) await transport.send(mail, never);
    expect(server.logins).toHaveLength(1);
    await server.stop();
    await server.start();
    const sent = await Promise.allSettled([transport.send(mail, never)]);
    if (sent[0]?.status === 'rejected') await transport.send(mail, never);
    expect(server.accepted).toHaveLength(4);
  });

  it('aborts an attempt on its signal', async () => {
    const server = await givenServer({ certificate, login });
    server.hold();
    const leaving = new AbortController();
    const sent = transportTo(server).send(mail, leaving.signal);
    leaving.abort();
    await expect(sent).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
