// What the gateway answers itself: health, the OpenAPI document, and the documentation browser, which needs nothing
// from anywhere else.
import { join } from 'node:path';
import type { Health } from '@almanac/service-kit/health';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import absolutePath from 'swagger-ui-dist/absolute-path.js';
import { nothingHere } from '../edge/api-calls.ts';
import { type EdgeRequest, refuse } from '../edge/exchange.ts';

type Options = { health: Health; openApi: () => Promise<string> };

// Everything comes from us; images of the browser itself are data: addresses.
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-16x16.png', 'favicon-32x32.png'];

export function createPages({ health, openApi }: Options): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('case sensitive routing', true).set('strict routing', true);
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/readyz', async (_req, res) => {
    const state = await health.check();
    res.status(state.ready ? 200 : 503).json(state);
  });
  app.get('/', (_req, res) => res.redirect(302, '/docs'));
  app.get('/openapi.json', async (_req, res) => void res.type('application/json').send(await openApi()));
  mountDocs(app);
  app.use(() => {
    throw nothingHere();
  });
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const { exchange } = req as unknown as EdgeRequest;
    if (exchange) refuse(exchange, error);
    else res.destroy();
  });
  return app;
}

function mountDocs(app: Express): void {
  const own = join(import.meta.dirname, 'docs');
  const swagger = absolutePath();
  const send = (file: string, root: string) => (_req: Request, res: Response) => {
    res.set('Content-Security-Policy', docsPolicy);
    res.sendFile(file, { root, cacheControl: false, lastModified: false });
  };
  app.get('/docs', send('index.html', own));
  app.get('/docs/start.js', send('start.js', own));
  for (const file of swaggerFiles) app.get(`/docs/${file}`, send(file, swagger));
}
