import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteOldBackups, newBackupFolder, requireOneBackup } from './kept-backups.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'almanac-kept-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

const days = (count: number) => Array.from({ length: count }, (_, i) => new Date(Date.UTC(2026, 5, i + 1, 2)));
function given(at: Date, { isFinished = true } = {}): string {
  const folder = newBackupFolder(parent, at);
  mkdirSync(folder);
  writeFileSync(join(folder, 'data.sql.gz'), '');
  if (isFinished) writeFileSync(join(folder, 'manifest.json'), '{}');
  utimesSync(folder, at, at);
  return folder;
}
const names = () => readdirSync(parent).toSorted();

it('keeps the latest, whatever else is in the folder', () => {
  for (const at of days(5)) given(at);
  for (const other of ['2026-05-01', 'lost+found', 'first']) mkdirSync(join(parent, other));
  expect(deleteOldBackups(parent, 2)).toHaveLength(3);
  expect(names()).toEqual(['2026-05-01', '2026-06-04T02-00-00Z', '2026-06-05T02-00-00Z', 'first', 'lost+found']);
  expect(deleteOldBackups(parent, 2)).toEqual([]);
});

it('does not count what is no whole backup, and deletes it when it is a day old', () => {
  const [first, second, third, fourth] = days(4) as [Date, Date, Date, Date];
  given(first);
  given(second, { isFinished: false });
  given(third);
  given(fourth, { isFinished: false }); // it may be under way
  deleteOldBackups(parent, 2, fourth.getTime() + 3_600_000);
  expect(names()).toEqual(['2026-06-01T02-00-00Z', '2026-06-03T02-00-00Z', '2026-06-04T02-00-00Z']);
});

it('asks for one of several backups, and names the latest whole one', () => {
  const [first] = days(3).map((at) => given(at)) as [string];
  given(new Date(Date.UTC(2026, 6, 1)), { isFinished: false });
  expect(() => requireOneBackup(parent)).toThrow(
    `${parent} holds several backups. Name one of them; the latest is ${join(parent, '2026-06-03T02-00-00Z')}.`,
  );
  for (const other of [first, join(parent, 'missing')]) expect(() => requireOneBackup(other)).not.toThrow();
});
