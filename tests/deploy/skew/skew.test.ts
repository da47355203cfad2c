// The end-to-end tests pass while each service in turn is one release older than the rest, on the
// schema of this code. SKEW=all: more of the tests.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { givenAccount } from '@almanac/testkit/system/builders';
import { type Fleet, fleetServices, startFleet } from '@almanac/testkit/system/fleet';
import { givenReleasedCode, type ReleasedCode } from '@almanac/testkit/system/released-code';
import { givenEverydayWork } from '../../support/everyday-work.ts';

const root = resolve(import.meta.dirname, '../../..');

/**
 * They call what the last release answers, too: what is newer has files of its own, until it is
 * released.
 */
const files = ['main-job', 'oauth-clients', 'promotion'];
const more = ['history', 'files/round-trip.property'];

/** For checking the releases out of git, and starting a whole system. */
const startWithinMs = 600_000;
/** A test that takes longer hangs. */
const acceptanceWithinMs = 900_000;

let code: ReleasedCode;
let fleet: Fleet;

beforeAll(async () => {
  code = await givenReleasedCode();
  fleet = await startFleet({ drainSeconds: 0, instances: 1 });
  Object.assign(process.env, fleet.env);
}, startWithinMs);
afterAll(() => fleet?.stop());

describe.each(fleetServices.map((name) => [name]))('%s of the last release beside the rest of this code', (name) => {
  beforeAll(async () => {
    await fleet.replace(name, 0, code.rootOf(name));
  });
  afterAll(async () => {
    await fleet.replace(name, 0);
  });

  it('does everyday work', async () => {
    const work = await givenEverydayWork(await (await givenAccount({ plan: 'enterprise' })).person());
    expect(await work.during(async () => {})).toBeGreaterThan(0);
  });

  it(
    'passes the end-to-end tests',
    async () => {
      const { passed, output } = await runAcceptance([...files, ...(process.env.SKEW === 'all' ? more : [])]);
      if (!passed) throw new Error(output);
    },
    2 * acceptanceWithinMs,
  );
});

/** Runs these files against the system that the environment names. */
function runAcceptance(names: string[]): Promise<{ passed: boolean; output: string }> {
  const places = names.map((name) => `tests/acceptance/${name}.test.ts`);
  const words = ['--disable-warning=ExperimentalWarning', 'scripts/test.ts', '--part', 'acceptance', ...places];
  return new Promise((done) => {
    const child = spawn(process.execPath, words, {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: acceptanceWithinMs,
    });
    let output = '';
    const keep = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('close', (exitCode) => done({ passed: exitCode === 0, output }));
  });
}
