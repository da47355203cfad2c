// No value of a setting, however wrong, appears in an error if it holds a secret: errors reach logs
// and consoles.
import { ConfigError, type Environment } from '@almanac/service-kit/config/config';
import { readConfig as readBilling } from '../../services/billing/src/config.ts';
import { readConfig as readConsole } from '../../services/console/src/config.ts';
import { readConfig as readData } from '../../services/data/src/config.ts';
import { readConfig as readGateway } from '../../services/gateway/src/config.ts';
import { readConfig as readIdentity } from '../../services/identity/src/config.ts';
import { readConfig as readJobs } from '../../services/jobs/src/config.ts';
import { readConfig as readMetadata } from '../../services/metadata/src/config.ts';

const services = {
  billing: readBilling,
  console: readConsole,
  data: readData,
  gateway: readGateway,
  identity: readIdentity,
  jobs: readJobs,
  metadata: readMetadata,
};

const values = [
  's3cret',
  's3cret with blanks',
  '{"kty":"OKP","d":"s3cret"',
  'postgres://almanac:s3cret@db:port/x',
  'postgres://almanac:s3cret@db/x?a=b',
  'north=postgres://almanac:s3cret@db/x north=postgres://almanac:s3cret@db/x',
  'amqp://almanac:s3cret@',
  's3://KEY:s3cret@host/No_Bucket',
  's3://KEY:%s3cret@host/bucket',
  'smtp://user:s3cret@mail.example.com/path?tls=maybe',
  'smtp://user:%s3cret@mail.example.com',
];

/**
 * An environment in which every variable has the same value; no variable named in errors holds a
 * secret.
 */
const everywhere = (value: string): Environment =>
  new Proxy<Environment>({}, { get: (_target, name) => (name === 'GATEWAY_CORS_ORIGINS' ? '' : value) });

describe.each(Object.entries(services))('the configuration of %s', (_name, read) => {
  it.each(values)('is refused without a secret: %s', (value) => {
    let thrown: unknown;
    try {
      read(everywhere(value));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigError);
    expect((thrown as Error).message).not.toContain('s3cret');
  });
});
