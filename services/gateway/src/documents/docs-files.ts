// The files of the documentation browser. Pages name their scripts and styles by digest, so that
// browsers keep those for ever, and pages are read again when one has changed.

import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { createDocument, type Document, revalidated } from '@almanac/service-kit/http/document';
import absolutePath from 'swagger-ui-dist/absolute-path.js';

type DocsFile = { path: string; document: Document; cacheControl: string };

const ownFolder = join(import.meta.dirname, 'docs');
const pages = { '/docs': 'index.html', '/docs/oauth2-redirect.html': 'oauth2-redirect.html' };
const ownAssets = ['start.js'];
const swaggerAssets = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
  'oauth2-redirect.js',
];

const immutable = 'public, max-age=31536000, immutable';

/** Reads all of them. */
export function readDocsFiles(): DocsFile[] {
  const assets = [
    ...ownAssets.map((name) => readAsset(name, ownFolder)),
    ...swaggerAssets.map((name) => readAsset(name, absolutePath())),
  ];
  const withDigests = (page: string) =>
    page.replace(/"\/docs\/([\w.-]+)"/g, (_match, name: string) => {
      const asset = assets.find((each) => each.name === name);
      if (!asset) throw new Error(`The documentation has no file ${name}.`);
      return `"${asset.path}"`;
    });
  return [
    ...Object.entries(pages).map(([path, name]) => {
      const content = Buffer.from(withDigests(readFileSync(join(ownFolder, name), 'utf8')));
      return { path, document: createDocument('html', content), cacheControl: revalidated };
    }),
    ...assets,
  ];
}

function readAsset(name: string, folder: string): DocsFile & { name: string } {
  const type = extname(name);
  const document = createDocument(type, readFileSync(join(folder, name)));
  const path = `/docs/${name.slice(0, -type.length)}.${document.digest}${type}`;
  return { name, path, document, cacheControl: immutable };
}
