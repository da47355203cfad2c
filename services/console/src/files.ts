// The built pages of the console, in memory: the page itself, and its files with the encodings that
// the build made (`app.js`, `app.js.br`, `app.js.gz`).
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { createDocument, type Document } from '@almanac/service-kit/http/document';

export type ConsoleFiles = {
  /** The page, with `noncePlaceholder` in it; undefined while nothing is built. */
  index?: string;
  /** By path below `/console/`. */
  byPath: Map<string, Document>;
};

const pageName = 'index.html';
const encodings = { br: '.br', gzip: '.gz' } as const;

/** Reads the folder; a folder that is missing has no files. */
export function readConsoleFiles(folder: string): ConsoleFiles {
  const byPath = new Map<string, Document>();
  for (const { path, file } of listFiles(folder)) {
    const compressed = Object.fromEntries(
      Object.entries(encodings).flatMap(([encoding, ending]) =>
        existsSync(file + ending) ? [[encoding, readFileSync(file + ending)]] : [],
      ),
    );
    byPath.set(path, createDocument(extname(file), readFileSync(file), compressed));
  }
  const page = join(folder, pageName);
  return existsSync(page) ? { index: readFileSync(page, 'utf8'), byPath } : { byPath };
}

// Without the page, what is compressed, and hidden files, such as the stamp of the build.
function listFiles(folder: string): { path: string; file: string }[] {
  return globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({
      file,
      path: file
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
    }))
    .filter(({ path }) => path !== pageName && !Object.values(encodings).some((ending) => path.endsWith(ending)))
    .filter(({ path }) => !path.split('/').some((part) => part.startsWith('.')));
}
