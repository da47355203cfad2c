import { ConfigError, ConfigReader, readCommonConfig, readDatabaseUrl } from './config.ts';

const keys = {
  ALMANAC_CONTEXT_KEYS: '{"keys":[]}',
  DATA_CONTEXT_KEY: '{"kty":"OKP"}',
  ALMANAC_BUS_URL: 'postgres://localhost/bus',
};

describe('configuration', () => {
  it('applies defaults and keeps secrets in their own part', () => {
    const config = readCommonConfig(new ConfigReader(keys), 'data');
    expect(config).toMatchObject({
      name: 'data',
      host: '127.0.0.1',
      httpPort: 8083,
      publicUrl: 'http://127.0.0.1:8080',
      logLevel: 'info',
    });
    expect(config.secrets).toEqual({ contextKey: { kty: 'OKP' }, busUrl: 'postgres://localhost/bus' });
  });

  it('reports every problem at once, each a sentence, without the value', () => {
    const read = new ConfigReader({
      ...keys,
      DATA_HTTP_PORT: '70000',
      ALMANAC_BUS_URL: 'redis://secret@x',
      ALMANAC_LOG_LEVEL: 'loud',
    });
    readCommonConfig(read, 'data');
    readDatabaseUrl(read, 'data');
    expect(() => read.finish({})).toThrow(ConfigError);
    expect(read.problems).toEqual([
      'DATA_HTTP_PORT should be the HTTP port (a whole number from 0 to 65535).',
      'ALMANAC_LOG_LEVEL should be one of trace, debug, info, warn, error, silent.',
      'ALMANAC_BUS_URL should be the message bus (amqp://… or amqps://… or postgres://… or postgresql://…).',
      "DATA_DATABASE_URL is missing; it should be data's database (postgres://… or postgresql://…).",
    ]);
  });
});
