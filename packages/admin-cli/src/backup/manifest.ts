// The manifest of a backup's folder. It is written last: a folder without it is no backup.
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { writeJson } from '@almanac/embedded/home';
import { OperatorError } from '../operator.ts';
import { type Checked, counter } from './dump/checked.ts';

export type StoredFile = Checked & { file: string };

export type DumpedDatabase = StoredFile & {
  name: string;
  server_version: string;
  /** What is not Almanac's and not in the dump, such as an operator's own types. */
  left_out: string[];
};

export type Manifest = {
  format: 2;
  almanac: string;
  taken_at: string;
  /** False: some messages may have been only on the bus. */
  is_settled: boolean;
  databases: DumpedDatabase[];
  /** `list` is a file with a line of JSON for each object. */
  objects: { list: StoredFile; count: number; bytes: number };
};

const nameOf = (folder: string) => join(folder, 'manifest.json');

/** Writes the manifest, which completes the backup. */
export function writeManifest(folder: string, manifest: Manifest): void {
  writeJson(nameOf(folder), manifest);
}

/** Whether a backup in this folder is whole. */
export const isFinished = (folder: string): boolean => existsSync(nameOf(folder));

/** Reads the manifest and checks its files; objects are checked while they are read. */
export async function readManifest(folder: string): Promise<Manifest> {
  if (!isFinished(folder)) throw new OperatorError(`There is no finished backup in ${folder}.`);
  const manifest = JSON.parse(readFileSync(nameOf(folder), 'utf8')) as Manifest;
  if (manifest.format !== 2)
    throw new OperatorError(
      `This release can't read backups of the format ${manifest.format}: restore it with release ${manifest.almanac}, then upgrade.`,
    );
  for (const file of [...manifest.databases, manifest.objects.list]) await requireWhole(folder, file);
  return manifest;
}

async function requireWhole(folder: string, { file, sha256 }: StoredFile): Promise<void> {
  const passed = counter();
  passed.stream.resume();
  try {
    await pipeline(createReadStream(join(folder, file)), passed.stream);
  } catch (error) {
    throw new OperatorError(`The backup is damaged: ${(error as Error).message}`);
  }
  if (passed.result().sha256 !== sha256) throw new OperatorError(`The backup is damaged: ${file} has other bytes.`);
}
