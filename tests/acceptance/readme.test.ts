// The README's first calls, run as they stand on a fresh system, answer what the README shows.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readmeCalls } from '@almanac/testkit/readme-calls';
import { type RunningSystem, startSystem } from '@almanac/testkit/system';

describe('the README', () => {
  let system: RunningSystem;
  let folder: string;

  beforeAll(async () => {
    system = await startSystem({ demo: true });
    folder = mkdtempSync(join(tmpdir(), 'almanac-readme-'));
    symlinkSync(system.home, join(folder, '.almanac'));
  });

  afterAll(async () => {
    await system.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows what its first calls answer', async () => {
    const calls = await readmeCalls(system.baseUrl, folder);
    expect(calls).toHaveLength(5);
    for (const { shown, answered } of calls) expect(answered).toBe(shown);
  });
});
