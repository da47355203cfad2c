// The bus against a real RabbitMQ at ALMANAC_TEST_AMQP_URL (scripts/servers/rabbitmq.sh starts
// one).

import { describeBus } from '@almanac/service-kit/messaging/bus.suite';
import amqp from 'amqplib';

const name = 'ALMANAC_TEST_AMQP_URL';

function url(): string {
  const given = process.env[name];
  if (given) return given;
  throw new Error(`${name} is missing: this suite needs a RabbitMQ (scripts/servers/rabbitmq.sh start DIR PORT).`);
}

async function sendRaw(_queue: string, type: string, text: string): Promise<void> {
  const connection = await amqp.connect(url());
  try {
    const channel = await connection.createConfirmChannel();
    channel.publish('almanac', type, Buffer.from(text), { headers: { 'x-attempt': text.slice(0, 100) } });
    await channel.waitForConfirms();
  } finally {
    await connection.close();
  }
}

describeBus('RabbitMQ', url, sendRaw);
