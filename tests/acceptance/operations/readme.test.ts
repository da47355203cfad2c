// The calls in the README and in how-to pages run unchanged on a fresh system, and answer what is
// shown there.
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signInPerson } from '@almanac/api-client/sign-in';
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
    ['grid', 0],
    ['history', 0],
  ])('shows in %s what its calls answer', async (page, shown) => {
    const calls = await runDocumentedCalls(system.baseUrl, folder, `docs/how-to/${page}.md`);
    expect(calls).toHaveLength(shown);
    for (const call of calls) expect(call.answered).toBe(call.shown);
  });

  it.each([
    ['make-a-table', 2],
    ['deploy', 2],
    ['promote', 1],
  ])('shows in %s what its calls answer to the administrator', async (page, shown) => {
    const { application, admin } = JSON.parse(readFileSync(join(system.home, 'credentials.json'), 'utf8'));
    const { access_token } = await signInPerson(system.baseUrl, application, admin);
    const calls = await runDocumentedCalls(system.baseUrl, folder, `docs/how-to/${page}.md`, access_token);
    expect(calls).toHaveLength(shown);
    for (const call of calls) expect(call.answered).toBe(call.shown);
  });
});
