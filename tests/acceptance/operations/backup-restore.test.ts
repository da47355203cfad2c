// The embedded system, backed up and restored on a machine with nothing but Node and Debian's own
// tools: whatever PostgreSQL's programs there can do, they aren't used.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeBackup } from '../../support/backup-restore.suite.ts';

const refusing = mkdtempSync(join(tmpdir(), 'almanac-refusing-'));
mkdirSync(refusing, { recursive: true });
for (const name of ['pg_dump', 'pg_restore', 'psql'])
  writeFileSync(join(refusing, name), '#!/bin/sh\necho "aborting because of server version mismatch" >&2\nexit 1\n', {
    mode: 0o755,
  });
process.env.PATH = `${refusing}:/usr/bin:/bin`;
afterAll(() => rmSync(refusing, { recursive: true }));

describeBackup(() => ({}));
