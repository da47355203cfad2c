// The bus against a real RabbitMQ, whose address comes with ALMANAC_TEST_AMQP_URL (scripts/servers/rabbitmq.sh starts one).
import { describeBus } from '@almanac/service-kit/bus/bus.suite';

const name = 'ALMANAC_TEST_AMQP_URL';

describeBus('RabbitMQ', () => {
  const url = process.env[name];
  if (!url)
    throw new Error(`${name} is missing: this suite needs a RabbitMQ (scripts/servers/rabbitmq.sh start DIR PORT).`);
  return url;
});
