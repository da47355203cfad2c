// An error page without a form.
import { type Html, html } from '@almanac/service-kit/http/html';

type Message = { title: string; sentences: string[]; link?: { href: string; text: string } };

/** The page for errors that no form on it could correct. */
export function messagePage({ title, sentences, link }: Message): Html {
  return html`<div class="box bad" role="alert"><h1>${title}</h1></div>
${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}${
  link !== undefined && html`<p class="after"><a href="${link.href}">${link.text}</a></p>`
}`;
}
