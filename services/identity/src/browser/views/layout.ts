// The layout of every page, and the headers that forbid framing, scripts, caching and leaking its
// address.
import { type Html, html } from '@almanac/service-kit/http/html';
import type { Response } from 'express';
import { styleVersion } from './style.ts';

type Page = {
  title: string;
  body: Html;
  status?: number;
  /** Another origin that a form may lead to: browsers check redirects after a POST, too. */
  formTarget?: string;
  /** True for pages with lists. */
  wide?: boolean;
};

// The logo, a table: decoration, hidden from screen readers.
const mark = html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 3h16a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1z"/><path d="M3 9h18M9 9v12M9 15h12"/></svg>`;

/** Sends a page. Its policy allows the style sheet of identity and nothing else. */
export function sendPage(res: Response, { title, body, status = 200, formTarget, wide = false }: Page): void {
  const formAction = ["'self'", formTarget].filter((source) => source !== undefined).join(' ');
  res.status(status).set({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `default-src 'none'; style-src 'self'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
  });
  res.send(
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Almanac</title>
<link rel="stylesheet" href="/oauth/style.css?v=${styleVersion}">
</head>
<body${wide && html` class="wide"`}>
<header>${mark}Almanac</header>
<main>
${body}
</main>
</body>
</html>
`.text,
  );
}

/** Headers of every response to a browser, pages and redirects alike. */
export function setPageHeaders(res: Response, isTls: boolean): void {
  res.set({
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  });
  if (isTls) res.set('Strict-Transport-Security', 'max-age=31536000');
}

/** The CSP source of a redirect URI; undefined for the out-of-band URI. */
export function formTargetOf(redirectUri: string): string | undefined {
  const { protocol, host } = new URL(redirectUri);
  if (protocol === 'urn:') return undefined;
  // CSP has no notation for IPv6 addresses, and private schemes have no host.
  return protocol === 'https:' || (protocol === 'http:' && !host.startsWith('[')) ? `${protocol}//${host}` : protocol;
}
