// Listens to a channel of PostgreSQL on its own connection, and reconnects until `stop`.
import pg from 'pg';
import type { Logger } from 'pino';
import { InterruptibleSleep } from '../interruptible-sleep.ts';

type ListenerOptions = {
  url: string;
  name: string;
  channel: string;
  logger: Logger;
  onNotify: (payload: string) => void;
  /** Called after each (re)connect: notifications may have been missed. */
  onConnected?: () => void;
};

const heartbeatMs = 10_000;
const heartbeatTimeoutMs = 5_000;
const maxDelayMs = 5_000;

export class DatabaseListener {
  private readonly options: ListenerOptions;
  private readonly sleep = new InterruptibleSleep();
  private stopping = false;
  private listening = false;
  private endConnection = () => {};
  private running: Promise<void> | undefined;

  constructor(options: ListenerOptions) {
    this.options = options;
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.endConnection();
    this.sleep.end();
    await this.running;
  }

  get isListening(): boolean {
    return this.listening;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.stopping) {
      const { channel, logger } = this.options;
      try {
        await this.listenOnce(() => {
          if (failures > 0) logger.info({ channel, failures }, 'listening to the database again');
          failures = 0;
        });
      } catch (error) {
        if (failures === 0 && !this.stopping)
          logger.warn({ err: error, channel }, 'lost the listening connection to the database');
      }
      this.listening = false;
      failures += 1;
      if (!this.stopping) await this.sleep.wait(Math.min(50 * 2 ** failures, maxDelayMs));
    }
  }

  // Returns when stopped, throws when the connection ends.
  private async listenOnce(connected: () => void): Promise<void> {
    const { url, name, channel, onNotify, onConnected } = this.options;
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      query_timeout: heartbeatTimeoutMs,
    });
    const ended = new Promise<void>((resolve, reject) => {
      this.endConnection = resolve;
      client.once('end', () => reject(new Error('the connection ended')));
      client.on('error', reject);
    });
    ended.catch(() => {}); // it may reject before it is awaited
    client.on('notification', ({ payload }) => onNotify(payload ?? ''));
    let heartbeat: NodeJS.Timeout | undefined;
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      this.listening = true;
      connected();
      onConnected?.();
      // Only a query notices a connection that was cut silently.
      heartbeat = setInterval(() => {
        client.query('select 1').catch((error) => client.emit('error', error));
      }, heartbeatMs);
      await ended;
    } finally {
      clearInterval(heartbeat);
      await client.end().catch(() => {});
    }
  }
}
