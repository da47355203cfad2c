// `/dev/mail`: shows the mail folder to a developer who tries Almanac on their machine. Mails
// contain links that set passwords, so the pages exist only where mails go to a folder and the
// public address is this machine, and they answer only local calls.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { isLoopback, readClientAddress } from '@almanac/service-kit/http/client-address';
import { Html, html } from '@almanac/service-kit/http/html';
import type { Express, Request, Response } from 'express';
import PostalMime, { type Email } from 'postal-mime';
import { mailFileName } from './transports/folder-transport.ts';

const path = '/dev/mail';
const shownAtOnce = 100;

type Options = { folder: string; publicUrl: string };

/** Mounts the pages, unless the public address is another machine's. */
export function mountMailPages(app: Express, { folder, publicUrl }: Options): void {
  if (!isLoopback(new URL(publicUrl).hostname)) return;
  const page = (suffix: string, answer: (req: Request, res: Response) => Promise<void>) =>
    app.get(path + suffix, async (req: Request, res: Response) => {
      res.locals.route = path + suffix;
      const callers = [readClientAddress(req), req.socket.remoteAddress ?? ''];
      if (!callers.every(isLoopback))
        throw new ServiceError('not_found', { code: 'unknown_address', message: 'There is nothing at this address.' });
      await answer(req, res);
    });
  page('', async (_req, res) => sendPage(res, 'Mails', listPage(await readLatest(folder))));
  page('/:name', async (req, res) => {
    const mail = await read(folder, req.params.name);
    sendPage(res, mail.subject ?? '', mailPage(String(req.params.name), mail));
  });
  page('/:name/html', async (req, res) => sendMailHtml(res, (await read(folder, req.params.name)).html ?? ''));
}

async function read(folder: string, name: unknown): Promise<Email> {
  if (typeof name !== 'string' || !mailFileName.test(name)) throw notFound('Mail');
  const bytes = await readFile(join(folder, `${name}.eml`)).catch(() => undefined);
  if (!bytes) throw notFound('Mail');
  return PostalMime.parse(bytes);
}

type Listed = { name: string; mail: Email };

async function readLatest(folder: string): Promise<Listed[]> {
  const files = await readdir(folder).catch(() => []);
  const names = files
    .flatMap((file) => (file.endsWith('.eml') ? [file.slice(0, -4)] : []))
    .filter((name) => mailFileName.test(name));
  const latest = names.toSorted(byNumber).toReversed().slice(0, shownAtOnce);
  const found = await Promise.allSettled(latest.map(async (name) => ({ name, mail: await read(folder, name) })));
  // The sweeper may have removed one.
  return found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}

const byNumber = (a: string, b: string) => Number(a.split('-').at(-1)) - Number(b.split('-').at(-1));

const listPage = (mails: Listed[]) => html`<h1>Mails</h1>
<p class="quiet">What this Almanac would have sent. Set JOBS_SMTP_URL to send mails. Reload to see new ones.</p>
${mails.length === 0 && html`<p>There are none yet. Invite someone: POST /api/v1/users</p>`}
<ul>
${mails.map(
  ({ name, mail }) => html`<li><a href="${path}/${name}">${mail.subject}</a><br>
<span class="quiet">to ${addressees(mail)} · ${mail.date}</span></li>
`,
)}
</ul>`;

const addressees = (mail: Email) =>
  (mail.to ?? []).map(({ name, address }) => `${name ?? ''} <${address ?? ''}>`.trim()).join(', ');

const mailPage = (name: string, mail: Email) => html`<p><a href="${path}">All mails</a></p>
<h1>${mail.subject}</h1>
<p class="quiet">to ${addressees(mail)} · ${mail.date}</p>
<h2>As text</h2>
<div class="mail">${(mail.text ?? '').split('\n').map((line) => html`${linked(line)}<br>\n`)}</div>
<h2>As HTML</h2>
<iframe title="The mail as HTML" src="${path}/${name}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>
`;

// A line that is a URL becomes a link.
const linked = (line: string): Html =>
  /^https?:\/\/\S+$/.test(line) ? html`<a href="${line}" rel="noreferrer">${line}</a>` : html`${line}`;

const style = `:root{color-scheme:light dark}body{margin:2rem auto;max-width:44rem;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.4rem}h2{font-size:1rem}li{margin:.75rem 0}.quiet{opacity:.7;font-size:.9rem}
.mail{font-family:ui-monospace,monospace;font-size:.9rem;overflow-wrap:anywhere}iframe{width:100%;height:32rem;border:1px solid}`;
const styleSource = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

function sendPage(res: Response, title: string, body: Html): void {
  res.set({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `default-src 'none'; style-src ${styleSource}; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
  });
  res.send(
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Almanac</title>
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.text,
  );
}

// The mail's own markup, in a sandboxed frame: no scripts, nothing loaded, no access to the page
// around it.
function sendMailHtml(res: Response, markup: string): void {
  res.set({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'SAMEORIGIN',
  });
  res.send(markup);
}
