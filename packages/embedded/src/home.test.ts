import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeHome, readHome } from './home.ts';

const folder = mkdtempSync(join(tmpdir(), 'almanac-home-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('the folders are made, with those above them, once', () => {
  const home = readHome({ ALMANAC_HOME: join(folder, 'a/b') });
  makeHome(home);
  makeHome(home);
  expect(existsSync(home.logs)).toBe(true);
});

// Where nothing can be made, by nobody; on Linux the second says that the parent isn't there although it is.
it.each(['/dev/null', '/proc'])('what can not be made in %s is said at once, with what to do', (place) => {
  const home = readHome({ ALMANAC_HOME: join(place, 'almanac') });
  expect(() => makeHome(home)).toThrow(
    /^The folder \S+\/almanac can't be made \(E[A-Z]+\)\. Choose another one with ALMANAC_HOME\.$/,
  );
});
