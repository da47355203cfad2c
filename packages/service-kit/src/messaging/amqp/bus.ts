// The bus on RabbitMQ: one topic exchange, quorum queues, persistent messages with publisher
// confirms, and connections that reconnect until `stop`.

import { type AmqpConnectionManager, type ChannelWrapper, connect } from 'amqp-connection-manager';
import type { Channel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import type { Logger } from 'pino';
import { readAuthorities, readCaFile } from '../../config/ca-file.ts';
import type { Bus } from '../bus/bus.ts';
import {
  type BusMessage,
  type BusOptions,
  type ConsumeOptions,
  type Handler,
  isWork,
  publishTimeoutMs,
  resync,
  type SubscribeOptions,
  settleWithin,
  stopTimeoutMs,
  subscriberPlace,
  UnreadableMessageError,
  UnroutableError,
} from '../bus/message.ts';
import { type HandlerOf, type Payloads, parseJson, readMessage } from '../bus/received-message.ts';
import { AmqpConsumer } from './consumer.ts';
import { deadQueueOptions, declareTopology, exchange } from './topology.ts';

const firstConnectMs = 5_000;
const setupRetryMs = 2_000;

type Setup = (channel: ConfirmChannel) => Promise<void>;

export function createAmqpBus(url: string, options: BusOptions): Bus {
  return new AmqpBus(url, options);
}

class AmqpBus implements Bus {
  private readonly url: string;
  private readonly caFile: string | undefined;
  private readonly name: string;
  private readonly logger: Logger;
  private readonly onUnreadable: BusOptions['onUnreadable'];
  private readonly consumers: AmqpConsumer[] = [];
  private readonly handling = new Set<Promise<void>>();
  private readonly returned = new Set<string>();
  private readonly waiting: { name: string; setup: Setup }[] = [];
  private readonly channels: ChannelWrapper[] = [];
  private readonly settled = new Set<ChannelWrapper>();
  private manager: AmqpConnectionManager | undefined;
  private publisher: ChannelWrapper | undefined;
  private stopping = false;
  private blocked = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(url: string, { service, instance, logger, onUnreadable }: BusOptions) {
    const parsed = new URL(url);
    this.caFile = readCaFile(parsed);
    parsed.searchParams.delete('ca_file');
    this.url = this.caFile ? parsed.href : url;
    this.name = `${service} ${instance}`;
    this.logger = logger;
    this.onUnreadable = onUnreadable;
  }

  async start(): Promise<void> {
    if (this.manager) return;
    this.manager = this.createManager();
    this.publisher = this.open('publisher', (channel) => this.setUpPublisher(channel));
    for (const { name, setup } of this.waiting.splice(0)) this.open(name, setup);
    await settleWithin(
      this.channels.map((channel) => channel.waitForConnect()),
      firstConnectMs,
    );
  }

  async publish(messages: BusMessage[]): Promise<void> {
    const { publisher } = this;
    if (!publisher || !this.isReady()) throw new Error('RabbitMQ is not connected.');
    if (this.blocked) throw new Error('RabbitMQ accepts no messages at present (memory or disk alarm).');
    // A message's return comes before its confirm, so after the last confirm all returns are known.
    await Promise.all(messages.map((message) => publishOne(publisher, message)));
    const unrouted = messages.filter(({ id }) => this.returned.delete(id));
    const unroutable = unrouted.filter(({ type }) => isWork(type));
    if (unroutable.length > 0) throw new UnroutableError(unroutable);
  }

  async consume<P extends Payloads>(
    queue: string,
    payloads: P,
    handle: HandlerOf<P>,
    options: ConsumeOptions = {},
  ): Promise<void> {
    const handler = handle as unknown as Handler; // it gets only messages that these payloads have checked
    const { logger, onUnreadable } = this;
    const consumer = new AmqpConsumer({ queue, payloads, handler, ...options, logger, onUnreadable });
    this.consumers.push(consumer);
    await this.add(queue, (channel) => consumer.setUp(channel));
  }

  async subscribe<P extends Payloads>(
    payloads: P,
    handle: HandlerOf<P>,
    options: SubscribeOptions = {},
  ): Promise<void> {
    const handler = handle as unknown as Handler;
    let current: Channel | undefined;
    await this.add('subscriber', async (channel) => {
      current = channel;
      const { queue } = await channel.assertQueue('', { exclusive: true, durable: false, autoDelete: true });
      for (const type of Object.keys(payloads)) await channel.bindQueue(queue, exchange, type);
      await channel.consume(queue, (delivery) => this.receive(delivery, payloads, handler), { noAck: true });
      void resync(options, () => !this.stopping && current === channel, this.logger);
    });
  }

  queues(): string[] {
    return this.consumers.map(({ queue }) => queue);
  }

  async deadLetters(queue: string): Promise<number> {
    if (!this.publisher) throw new Error('RabbitMQ is not connected.');
    const { messageCount } = await this.publisher.assertQueue(`${queue}.dead`, deadQueueOptions);
    return messageCount;
  }

  // A dead letter is acknowledged only when the broker has it in its queue again.
  async redeliver(queue: string): Promise<number> {
    const { publisher } = this;
    const there = await this.deadLetters(queue);
    for (let moved = 0; moved < there; moved += 1) {
      const letter = await publisher?.get(`${queue}.dead`);
      if (!publisher || !letter) return moved;
      const { messageId, type, contentType, timestamp } = letter.properties;
      await publisher.publish('', queue, letter.content, { messageId, type, contentType, timestamp, persistent: true });
      publisher.ack(letter);
    }
    return there;
  }

  // Ready only with all channels: an event that is published before this service's queues exist
  // would miss them.
  isReady(): boolean {
    return this.manager?.isConnected() === true && this.settled.size === this.channels.length;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.retry);
    await Promise.all(this.consumers.map((consumer) => consumer.stop(stopTimeoutMs)));
    await settleWithin(this.handling, stopTimeoutMs);
    await this.manager?.close().catch(() => {}); // closes the channels too; what isn't acknowledged is redelivered
  }

  private createManager(): AmqpConnectionManager {
    const connectionOptions = {
      timeout: 5_000,
      keepAlive: true,
      noDelay: true,
      clientProperties: { connection_name: this.name },
    };
    const { url, caFile } = this;
    const manager = connect(undefined, {
      heartbeatIntervalInSeconds: 5,
      reconnectTimeInSeconds: 1,
      // Called for each connection.
      findServers: async () => ({
        url,
        connectionOptions: { ...connectionOptions, ...(caFile ? { ca: readAuthorities(caFile) } : {}) },
      }),
    });
    let failures = 0;
    manager.on('connect', () => {
      if (failures > 0) this.logger.info({ failures }, 'reconnected to RabbitMQ');
      failures = 0;
      this.blocked = false;
    });
    manager.on('connectFailed', ({ err }) => {
      failures += 1;
      if (failures === 1) this.logger.warn({ err }, 'can not connect to RabbitMQ; trying again');
    });
    manager.on('disconnect', ({ err }) => {
      this.settled.clear();
      if (!this.stopping) this.logger.warn({ err }, 'the connection to RabbitMQ was lost');
    });
    manager.on('blocked', ({ reason }) => {
      this.blocked = true;
      this.logger.warn({ reason }, 'RabbitMQ accepts no messages at present');
    });
    manager.on('unblocked', () => {
      this.blocked = false;
    });
    return manager;
  }

  private async add(name: string, setup: Setup): Promise<void> {
    if (!this.manager) {
      this.waiting.push({ name, setup });
      return;
    }
    const channel = this.open(name, setup);
    if (this.manager.isConnected()) await settleWithin([channel.waitForConnect()], firstConnectMs);
  }

  // Each purpose has its own channel, so that the broker closes no other one after an error.
  private open(name: string, setup: Setup): ChannelWrapper {
    const manager = this.manager as AmqpConnectionManager;
    const wrapper = manager.createChannel({
      name,
      confirm: true,
      publishTimeout: publishTimeoutMs,
      setup: async (channel: ConfirmChannel) => {
        channel.once('close', () => {
          this.settled.delete(wrapper);
          this.reconnectSoon();
        });
        await declareTopology(channel);
        await setup(channel);
        this.settled.add(wrapper);
      },
    });
    wrapper.on('error', (err) => {
      if (!this.stopping) this.logger.warn({ err, channel: name }, 'a channel of RabbitMQ failed');
      this.reconnectSoon();
    });
    this.channels.push(wrapper);
    return wrapper;
  }

  // The manager reopens channels only with the connection; a channel that failed alone stays
  // closed.
  private reconnectSoon(): void {
    if (this.stopping || this.retry || !this.manager?.isConnected()) return;
    this.retry = setTimeout(() => {
      this.retry = undefined;
      if (!this.stopping && this.settled.size < this.channels.length) this.manager?.reconnect();
    }, setupRetryMs);
  }

  private async setUpPublisher(channel: ConfirmChannel): Promise<void> {
    this.returned.clear();
    channel.on('return', ({ properties }) => this.returned.add(properties.messageId));
  }

  private receive(delivery: ConsumeMessage | null, payloads: Payloads, handler: Handler): void {
    if (!delivery || this.stopping) return;
    const run = this.deliver(delivery, payloads, handler).catch((error) => {
      if (error instanceof UnreadableMessageError) this.onUnreadable?.(subscriberPlace);
      this.logger.error({ err: error, type: delivery.fields.routingKey }, 'a subscriber failed');
    });
    this.handling.add(run);
    run.finally(() => this.handling.delete(run));
  }

  private async deliver(delivery: ConsumeMessage, payloads: Payloads, handler: Handler): Promise<void> {
    const message = readMessage(payloads, parseJson(delivery.content));
    if (message) await handler(message);
  }
}

// `mandatory`: the broker returns a message without a queue. An event without a queue has no
// consumer and is done; work without a queue would be lost, so `publish` throws.
async function publishOne(channel: ChannelWrapper, message: BusMessage): Promise<void> {
  await channel.publish(exchange, message.type, Buffer.from(JSON.stringify(message)), {
    persistent: true,
    mandatory: true,
    messageId: message.id,
    type: message.type,
    contentType: 'application/json',
    timestamp: Math.floor(Date.parse(message.occurred_at) / 1000),
  });
}
