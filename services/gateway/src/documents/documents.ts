// The pages that the gateway itself answers: health, the OpenAPI document, and the documentation
// browser, which loads nothing from other sites.
import { sendDocument } from '@almanac/service-kit/http/document';
import { consolePrefix } from '@almanac/service-kit/http/path';
import express, { type Request, type Router } from 'express';
import Negotiator from 'negotiator';
import type { GatewayContext } from '../context.ts';
import { readDocsFiles } from './docs-files.ts';

// Only files of this gateway; the browser's own images are data: URLs.
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The routes of the gateway's own documents. */
export function documentRoutes({ runtime, openApi, config }: GatewayContext): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  router.get('/readyz', async (_req, res) => {
    const state = await runtime.health.check();
    res.status(state.ready ? 200 : 503).json(state);
  });
  // Browsers ask for HTML; programs get to the documentation.
  const prefersPages = (req: Request) => config.console && new Negotiator(req).mediaTypes().includes('text/html');
  router.get('/', (req, res) => {
    res.vary('Accept').redirect(302, prefersPages(req) ? consolePrefix : '/docs');
  });
  if (config.console) router.get('/console', (_req, res) => res.redirect(302, consolePrefix));
  router.get('/openapi.json', async (req, res) => sendDocument(req, res, await openApi(), config.compression));
  addDocs(router, config.compression);
  return router;
}

function addDocs(router: Router, compress: boolean): void {
  for (const { path, document, cacheControl } of readDocsFiles())
    router.get(path, async (req, res) => {
      res.set('Content-Security-Policy', docsPolicy);
      // As the pages of identity have it: the window in which a person signs in finds its opener.
      res.set('Cross-Origin-Opener-Policy', 'same-origin');
      await sendDocument(req, res, document, compress, cacheControl);
    });
}
