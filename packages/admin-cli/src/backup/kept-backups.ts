// A folder of backups, each in a folder of its own that is named by its time; the oldest go.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../operator.ts';
import { isFinished } from './manifest.ts';

const namePattern = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/;
const abandonedAfterMs = 24 * 3_600_000;

/** The folder of a backup that begins now. */
export function newBackupFolder(parent: string, now = new Date()): string {
  return join(parent, `${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z`);
}

/** The finished backups of a folder, the latest first. */
function listBackups(parent: string): string[] {
  return named(parent).filter(isFinished).toReversed();
}

/** Refuses the folder that `backup --keep` fills: one of its backups has to be named. */
export function requireOneBackup(folder: string): void {
  const [latest] = isFinished(folder) ? [] : listBackups(folder);
  if (latest) throw new OperatorError(`${folder} holds several backups. Name one of them; the latest is ${latest}.`);
}

/**
 * Deletes all but the latest finished ones, and those that were interrupted more than a day ago.
 * Everything with another name stays. Returns what it deleted.
 */
export function deleteOldBackups(parent: string, keep: number, now = Date.now()): string[] {
  const old = listBackups(parent).slice(keep);
  const abandoned = named(parent).filter(
    (folder) => !isFinished(folder) && now - statSync(folder).mtimeMs > abandonedAfterMs,
  );
  const deleted = [...old, ...abandoned];
  for (const folder of deleted) rmSync(folder, { recursive: true, force: true });
  return deleted;
}

const named = (parent: string) =>
  existsSync(parent)
    ? readdirSync(parent)
        .filter((name) => namePattern.test(name))
        .toSorted()
        .map((name) => join(parent, name))
    : [];
