// The embedded system, backed up and restored on a machine with nothing but Node and Debian's own
// tools: whatever PostgreSQL's programs there can do, they aren't used.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { admin, runAdmin, systemHome } from '@almanac/testkit/system/system';
import { describeBackup } from '../../support/backup-restore.suite.ts';

const work = mkdtempSync(join(tmpdir(), 'almanac-backups-'));
const refusing = mkdtempSync(join(work, 'programs-'));
for (const name of ['pg_dump', 'pg_restore', 'psql'])
  writeFileSync(join(refusing, name), '#!/bin/sh\necho "aborting because of server version mismatch" >&2\nexit 1\n', {
    mode: 0o755,
  });
process.env.PATH = `${refusing}:/usr/bin:/bin`;
afterAll(() => rmSync(work, { recursive: true }));

describeBackup(() => ({}));

it('keeps as many backups as asked for, and shows the latest in the metrics', async () => {
  const folder = join(work, 'kept');
  const made = [];
  for (let i = 0; i < 2; i += 1)
    made.push(await admin<{ folder: string; taken_at: string; deleted: string[] }>(['backup', folder, '--keep', '1']));
  expect(made.map(({ deleted }) => deleted)).toEqual([[], [made[0]?.folder]]);
  expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([made[1]?.folder]);
  const { metrics } = JSON.parse(readFileSync(join(systemHome(), 'runtime.json'), 'utf8'));
  const text = await (await fetch(`http://${metrics.jobs}/metrics`)).text();
  const shown = Number(/^almanac_last_backup_timestamp_seconds{service="jobs"} (.+)$/m.exec(text)?.[1]);
  expect(new Date(shown * 1000).toISOString()).toBe(made[1]?.taken_at);
  expect(await runAdmin(['restore', folder])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`the latest is ${made[1]?.folder}`),
  });
  expect(await runAdmin(['backup', folder, '--keep', '0'])).toMatchObject({ code: 2 });
});
