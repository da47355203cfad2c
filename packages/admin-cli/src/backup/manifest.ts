// What a backup's folder holds, in a file that is written last: a folder without it is no backup.
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { writeJson } from '@almanac/embedded/home';
import { OperatorError } from '../operator.ts';
import { type Checked, counter } from './postgres-programs.ts';

export type StoredFile = Checked & { file: string };

export type DumpedDatabase = StoredFile & { name: string; server_version: string };

export type Manifest = {
  format: 1;
  almanac: string;
  taken_at: string;
  /** False: messages may have been on the bus that no database held. */
  is_settled: boolean;
  databases: DumpedDatabase[];
  /** `list` has a line of JSON for each object. */
  objects: { list: StoredFile; count: number; bytes: number };
};

const nameOf = (folder: string) => join(folder, 'manifest.json');

/** Makes the folder a backup. */
export function writeManifest(folder: string, manifest: Manifest): void {
  writeJson(nameOf(folder), manifest);
}

/** Reads it and checks every file that it names but the objects, which are checked as they are read. */
export async function readManifest(folder: string): Promise<Manifest> {
  if (!existsSync(nameOf(folder))) throw new OperatorError(`There is no finished backup in ${folder}.`);
  const manifest = JSON.parse(readFileSync(nameOf(folder), 'utf8')) as Manifest;
  if (manifest.format !== 1)
    throw new OperatorError(`This release can't read backups of the format ${manifest.format}.`);
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
