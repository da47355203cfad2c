import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readHome } from './home.ts';
import { readOrMakeSecrets } from './secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'almanac-secrets-'));
const home = readHome({ ALMANAC_HOME: folder });
const read = () => readOrMakeSecrets(home, ['data']);

afterAll(() => rmSync(folder, { recursive: true }));

it('makes secrets once, and adds what a later version needs', () => {
  const made = read();
  expect(read()).toEqual(made);
  const { object_store_key, ...older } = made;
  writeFileSync(home.secrets, JSON.stringify(older));
  const later = read();
  expect(later).toEqual({ ...made, object_store_key: later.object_store_key });
  expect(later.object_store_key).not.toBe(object_store_key);
});

it.each(['{broken', '', '{"context_keys": {'])('leaves alone what it can not read: %j', (text) => {
  writeFileSync(home.secrets, text);
  expect(read).toThrow(/secrets\.json is no JSON.*put it back from a copy/);
  expect(readFileSync(home.secrets, 'utf8')).toBe(text);
});

it('makes no new ones for data that the old ones open', () => {
  mkdirSync(home.postgres);
  rmSync(home.secrets);
  expect(read).toThrow(/secrets\.json is missing.*put it back from a copy/);
  expect(existsSync(home.secrets)).toBe(false);
});
