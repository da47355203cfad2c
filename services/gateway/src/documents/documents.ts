// The pages that the gateway itself answers: health, the OpenAPI document, and the documentation
// browser, which loads nothing from other sites.
import express, { type Router } from 'express';
import type { GatewayContext } from '../context.ts';
import { readDocsFiles, revalidated } from './docs-files.ts';

// Only files of this gateway; the browser's own images are data: URLs.
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The routes of the gateway's own documents. */
export function documentRoutes({ runtime: { health }, openApi }: Pick<GatewayContext, 'runtime' | 'openApi'>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  router.get('/readyz', async (_req, res) => {
    const state = await health.check();
    res.status(state.ready ? 200 : 503).json(state);
  });
  router.get('/', (_req, res) => res.redirect(302, '/docs'));
  router.get('/openapi.json', async (_req, res) => {
    const { text, etag } = await openApi();
    res.set({ 'Cache-Control': revalidated, ETag: etag });
    res.type('application/json').send(text);
  });
  addDocs(router);
  return router;
}

function addDocs(router: Router): void {
  for (const { path, type, body, etag, cacheControl } of readDocsFiles())
    router.get(path, (_req, res) => {
      res.set({ 'Content-Security-Policy': docsPolicy, 'Cache-Control': cacheControl, ETag: etag });
      // As the pages of identity have it: the window in which a person signs in finds its opener.
      res.set('Cross-Origin-Opener-Policy', 'same-origin');
      res.type(type).send(body);
    });
}
