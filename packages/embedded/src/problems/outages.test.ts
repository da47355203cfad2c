import { watchOutages } from './outages.ts';

function given() {
  const said: string[] = [];
  const env = { ALMANAC_BUS_URL: 'amqp://user:s3cret@rabbit:5672' };
  return { said, report: watchOutages(env, (name, message) => said.push(`${name}: ${message}`)) };
}

it('an outage is said once, however many services report it, and again when the last one sees the server', () => {
  const { said, report } = given();
  report('data', []);
  report('data', ['bus']);
  report('jobs', ['bus']);
  report('data', ['bus']);
  expect(said).toEqual([
    "bus: RabbitMQ at rabbit:5672 can't be reached. Messages and jobs wait until it is back; check that it runs, and ALMANAC_BUS_URL.",
  ]);
  report('data', []);
  expect(said).toHaveLength(1);
  report('jobs', []);
  expect(said.slice(1)).toEqual(['bus: RabbitMQ at rabbit:5672 is back']);
});

it('two servers are two outages, and a password is never shown', () => {
  const { said, report } = given();
  report('jobs', ['bus', 'object_store']);
  report('jobs', ['object_store']);
  expect(said.map((line) => line.split(' ')[0])).toEqual(['bus:', 'object_store:', 'bus:']);
  expect(said.join()).not.toContain('s3cret');
});
