// A mail server for tests: accepts and parses mails, and refuses, defers, holds or disconnects on
// demand.
import { buffer } from 'node:stream/consumers';
import type { Certificate } from '@almanac/testkit/network/certificate';
import { findFreePort } from '@almanac/testkit/network/ports';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export type Caught = {
  /** The envelope: the actual recipients. */
  from: string;
  to: string[];
  isSecure: boolean;
  user: string | undefined;
  mail: Email;
  raw: string;
};

type Options = {
  login?: { user: string; pass: string };
  certificate?: Certificate;
  /** TLS from the first byte. */
  isSecure?: boolean;
};

export class MailServer {
  /** Mails received completely, whatever was answered. */
  arrived: Caught[] = [];
  /** Mails answered with 250. */
  accepted: Caught[] = [];
  /** Users that tried to log in. */
  logins: (string | undefined)[] = [];
  /** Answers to the next mails instead, in order. */
  answers: { code: number; text: string }[] = [];
  /** Addresses that do not exist. */
  unknown = new Set<string>();
  port = 0;
  private server: SMTPServer | undefined;
  private readonly options: Options;
  private held: { promise: Promise<void>; open: () => void } | undefined;

  constructor(options: Options = {}) {
    this.options = options;
  }

  /** Listens; after `stop` on the same port as before. */
  async start(): Promise<this> {
    const { login, certificate, isSecure = false } = this.options;
    const server = new SMTPServer({
      ...(certificate ?? {}),
      secure: isSecure,
      closeTimeout: 100, // connections that clients keep open end with it
      authOptional: login === undefined,
      disabledCommands: [...(certificate ? [] : ['STARTTLS']), ...(login ? [] : ['AUTH'])],
      onAuth: (given, _session, done) => {
        this.logins.push(given.username);
        const isRight = given.username === login?.user && given.password === login?.pass;
        if (isRight) done(null, { user: given.username as string });
        else done(reply(535, 'Who are you?'));
      },
      onRcptTo: ({ address }, _session, done) =>
        this.unknown.has(address) ? done(reply(550, `5.1.1 <${address}> is unknown`)) : done(),
      onData: (stream, session, done) => {
        const { mailFrom, rcptTo } = session.envelope;
        const envelope = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: session.user as string | undefined,
        };
        this.take(stream, envelope).then((refusal) => done(refusal), done);
      },
    });
    server.on('error', () => {}); // a client that leaves in the middle
    this.server = server;
    this.port ||= await findFreePort();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
    return this;
  }

  private async take(stream: NodeJS.ReadableStream, envelope: Omit<Caught, 'mail' | 'raw'>) {
    const bytes = await buffer(stream);
    const caught = { ...envelope, mail: await PostalMime.parse(bytes), raw: bytes.toString() };
    this.arrived.push(caught);
    await this.held?.promise;
    const refusal = this.answers.shift();
    if (refusal) return reply(refusal.code, refusal.text);
    this.accepted.push(caught);
    return null;
  }

  /** From now on, received mails are not answered until `release`. */
  hold(): void {
    let open!: () => void;
    const promise = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.held = { promise, open };
  }

  release(): void {
    this.held?.open();
    this.held = undefined;
  }

  /** The mails that were accepted for this address. */
  mailsTo(address: string): Caught[] {
    return this.accepted.filter(({ to }) => to.includes(address));
  }

  async stop(): Promise<void> {
    this.release();
    const { server } = this;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
    this.server = undefined;
  }
}

const reply = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode });
