// Renders a mail: the same sentences as plain text and as HTML, with at most one button.
import { html, visibleText } from '@almanac/service-kit/http/html';
import type { Facts, Template } from './template.ts';

export type MailContent = { subject: string; text: string; html: string };

type RenderInput = {
  template: Template;
  facts: Facts;
  values: unknown;
  /** The target of the button; a template with `see` needs none. */
  link?: string;
  /** The address of this Almanac, for the footer. */
  publicUrl: string;
  /** The address of the console. */
  consoleUrl: string;
};

const maxSubjectLength = 200;

/**
 * Renders a mail. Names and values remain text, on one line each, whatever characters they contain.
 */
export function renderMail({ template, facts, values, link: made, publicUrl, consoleUrl }: RenderInput): MailContent {
  const { see } = template;
  const overApi = see && `${publicUrl}${see.path(values)}`;
  const page = see?.page;
  const link = page ? `${consoleUrl}${page.path(values)}` : (overApi ?? made);
  const { subject, before, after: last = [] } = template.write(facts, values);
  const { label = '' } = template.button ?? page ?? see ?? {};
  const after = page ? [`${see?.label}: ${overApi}`, ...last] : last;
  const foot = `Sent by Almanac at ${publicUrl}. Answers to this address are not read.`;
  const address = link === undefined ? [] : [`${label}:\n${link}`];
  const text = [...before.map(visibleText), ...address, ...after.map(visibleText), `-- \n${foot}`];
  return {
    subject: [...visibleText(subject)].slice(0, maxSubjectLength).join(''),
    text: `${text.join('\n\n')}\n`,
    html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
</head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:34em;margin:0 auto">
<p style="font-weight:600;opacity:.75">Almanac</p>
${before.map(paragraph)}${link !== undefined && button(label, link)}${after.map(paragraph)}
<p style="margin-top:2em;font-size:13px;opacity:.75">${foot}</p>
</div>
</body>
</html>
`.text,
  };
}

const paragraph = (sentence: string) => html`<p>${sentence}</p>\n`;

// The address is shown too: a button that hides its target teaches people to trust any button.
const button = (
  label: string,
  link: string,
) => html`<p><a href="${link}" target="_blank" rel="noopener noreferrer" style="display:inline-block;padding:11px 20px;border-radius:8px;background:#1f4fbf;color:#ffffff;font-weight:600;text-decoration:none">${label}</a></p>
<p style="font-size:13px;overflow-wrap:anywhere">Or open this address: ${link}</p>
`;
