// The pages that the gateway itself answers: health, the OpenAPI document, and the documentation
// browser, which loads nothing from other sites.
import { join } from 'node:path';
import express, { type Request, type Response, type Router } from 'express';
import absolutePath from 'swagger-ui-dist/absolute-path.js';
import type { GatewayContext } from '../context.ts';

// Only files of this gateway; the browser's own images are data: URLs.
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-16x16.png', 'favicon-32x32.png'];

/** The routes of the gateway's own documents. */
export function documentRoutes({ runtime: { health }, openApi }: Pick<GatewayContext, 'runtime' | 'openApi'>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  router.get('/readyz', async (_req, res) => {
    const state = await health.check();
    res.status(state.ready ? 200 : 503).json(state);
  });
  router.get('/', (_req, res) => res.redirect(302, '/docs'));
  router.get('/openapi.json', async (_req, res) => void res.type('application/json').send(await openApi()));
  addDocs(router);
  return router;
}

function addDocs(router: Router): void {
  const ownFiles = join(import.meta.dirname, 'docs');
  const swaggerFolder = absolutePath();
  const send = (file: string, root: string) => (_req: Request, res: Response) => {
    res.set('Content-Security-Policy', docsPolicy);
    res.sendFile(file, { root, cacheControl: false, lastModified: false });
  };
  router.get('/docs', send('index.html', ownFiles));
  router.get('/docs/start.js', send('start.js', ownFiles));
  for (const file of swaggerFiles) router.get(`/docs/${file}`, send(file, swaggerFolder));
}
