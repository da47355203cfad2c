// The console's HTTP server: files, the page, and what the page has to know of this installation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { revalidated, sendDocument } from '@almanac/service-kit/http/document';
import { addressNotFound, consolePrefix, pathOf } from '@almanac/service-kit/http/path';
import type { HttpServer } from '@almanac/service-kit/process/http-server';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { Express } from 'express';
import type { ConsoleContext } from './context.ts';
import { sendPage } from './page.ts';

const manifest = join(import.meta.dirname, '../package.json');

/** The names of assets hold a hash of their content. */
const assets = 'assets/';
const immutable = 'public, max-age=31536000, immutable';

/** Builds the HTTP server; it listens only after `start`. */
export function createConsoleHttp(ctx: ConsoleContext, runtime: ServiceRuntime): HttpServer {
  return runtime.httpServer({ routes: [], mount: mountConsole(ctx) });
}

function mountConsole({ files }: ConsoleContext): (app: Express) => void {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return (app) => {
    app.get(`${consolePrefix}config.json`, (_req, res) => void res.json({ version }));
    app.get(`${consolePrefix}{*path}`, async (req, res) => {
      const path = pathOf(req.url).slice(consolePrefix.length);
      const file = files.byPath.get(path);
      if (file) await sendDocument(req, res, file, true, path.startsWith(assets) ? immutable : revalidated);
      else if (path.startsWith(assets)) throw addressNotFound();
      else sendPage(res, files.index);
    });
  };
}
