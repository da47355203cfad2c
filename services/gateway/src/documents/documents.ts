// The pages that the gateway itself answers: health, the OpenAPI document, and the documentation
// browser, which loads nothing from other sites.
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import express, { type Router } from 'express';
import absolutePath from 'swagger-ui-dist/absolute-path.js';
import type { GatewayContext } from '../context.ts';
import { createDocument, type Document, sendDocument } from './document.ts';

// Only files of this gateway; the browser's own images are data: URLs.
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-16x16.png', 'favicon-32x32.png'];

/** The routes of the gateway's own documents. */
export function documentRoutes({ runtime, openApi, config }: GatewayContext): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  router.get('/readyz', async (_req, res) => {
    const state = await runtime.health.check();
    res.status(state.ready ? 200 : 503).json(state);
  });
  router.get('/', (_req, res) => res.redirect(302, '/docs'));
  router.get('/openapi.json', async (req, res) => sendDocument(req, res, await openApi(), config.compression));
  addDocs(router, config.compression);
  return router;
}

function addDocs(router: Router, compress: boolean): void {
  const ownFiles = join(import.meta.dirname, 'docs');
  const swaggerFolder = absolutePath();
  const add = (path: string, folder: string, file: string) => {
    let document: Document | undefined;
    router.get(path, async (req, res) => {
      document ??= createDocument(extname(file), readFileSync(join(folder, file)));
      res.set('Content-Security-Policy', docsPolicy);
      await sendDocument(req, res, document, compress);
    });
  };
  add('/docs', ownFiles, 'index.html');
  add('/docs/start.js', ownFiles, 'start.js');
  for (const file of swaggerFiles) add(`/docs/${file}`, swaggerFolder, file);
}
