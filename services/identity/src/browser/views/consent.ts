// The consent page, and the page that shows a code to copy.
import { type Html, html } from '@almanac/service-kit/http/html';
import { type Scope, scopeMeanings } from '../../tokens/scopes.ts';
import { bdi, hiddenFields } from './parts.ts';

type Consent = {
  applicationName: string;
  accountName: string;
  email: string;
  /** The requested scopes: those not allowed before, and those allowed. */
  asked: { added: Scope[]; allowed: Scope[] };
  /** Where the browser goes next, in words. */
  destination: string;
  /** False when the user is asked again next time. */
  isKept: boolean;
  hidden: Record<string, string>;
  logOut: Record<string, string>;
};

/** The page that asks to allow an application. */
export function consentPage(consent: Consent): Html {
  const { applicationName, accountName, email, asked, destination, isKept, hidden, logOut } = consent;
  const name = bdi(applicationName);
  const isMore = asked.added.length > 0 && asked.allowed.length > 0;
  return html`<h1>Allow ${name}?</h1>
<p class="lead"><strong>${name}</strong> asks to act for you in the account <strong>${bdi(accountName)}</strong>.</p>
${
  isMore
    ? html`<h2>New: it also wants to</h2>
${scopeList(asked.added, 'wanted')}<h2>You have allowed it to</h2>
${scopeList(asked.allowed)}`
    : html`<h2>It wants to</h2>
${scopeList([...asked.added, ...asked.allowed], 'wanted')}`
}<ul class="facts">
<li>It can never do more than you may yourself.</li>
<li>${destination}</li>
<li>${
    isKept
      ? html`You won’t be asked again for this, until you take it back under <a href="/oauth/applications">Your applications</a>.`
      : html`You will be asked each time. What it got you can take back under <a href="/oauth/applications">Your applications</a>.`
  }</li>
</ul>
<form method="post" action="/oauth/authorize">
${hiddenFields(hidden)}<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="second">Don’t allow</button>
</form>
<div class="after">You are logged in as ${bdi(email)}.
<form class="inline" method="post" action="/oauth/logout">
${hiddenFields(logOut)}<button type="submit" class="plain">Log out</button>
</form></div>`;
}

/** A list of scopes, in words and by name. */
export function scopeList(scopes: Scope[], kind: 'wanted' | 'allowed' = 'allowed'): Html {
  return html`<ul class="scopes ${kind}">
${scopes.map((scope) => html`<li>${scopeMeanings[scope]} <span class="quiet">${scope}</span></li>\n`)}</ul>
`;
}

/** The page with a code to copy into the application (out-of-band). */
export function codePage(applicationName: string, code: string): Html {
  return html`<h1>Your code</h1>
<p>Copy this code to <strong>${bdi(applicationName)}</strong>. It works once, within one minute.</p>
<code id="code">${code}</code>
<p class="quiet">Don’t give it to anyone else. You can close this page.</p>`;
}
