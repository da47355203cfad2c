// The calls in the README and in how-to pages run unchanged on a fresh system, and answer what is
// shown there.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDocumentedCalls } from '@almanac/testkit/system/documented-calls';
import { type RunningSystem, startSystem } from '@almanac/testkit/system/system';

describe('the documentation', () => {
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

  it('shows in the README what the first calls answer', async () => {
    const calls = await runDocumentedCalls(system.baseUrl, folder);
    expect(calls).toHaveLength(5);
    for (const { shown, answered } of calls) expect(answered).toBe(shown);
  });

  it.each([
    ['import-a-file', 1],
    ['export-a-table', 1],
    ['keep-a-copy', 1],
    ['edit-in-excel', 1],
  ])('shows in %s what its calls answer', async (page, shown) => {
    const calls = await runDocumentedCalls(system.baseUrl, folder, `docs/how-to/${page}.md`);
    expect(calls).toHaveLength(shown);
    for (const call of calls) expect(call.answered).toBe(call.shown);
  });
});
