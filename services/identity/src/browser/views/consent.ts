// Allow an application or not; take a code over by hand.
import { type Html, html } from '@almanac/service-kit/http/html';
import { type Scope, scopeMeanings } from '../../tokens/scopes.ts';
import { bdi, hiddenFields } from './parts.ts';

type Consent = {
  applicationName: string;
  accountName: string;
  email: string;
  /** What it asks for that was not allowed before, and what was. */
  asked: { anew: Scope[]; allowed: Scope[] };
  /** Where the answer goes, in words. */
  destination: string;
  /** False when the answer is not kept: the next time is asked again. */
  isKept: boolean;
  hidden: Record<string, string>;
  logOut: Record<string, string>;
};

export function consentPage(consent: Consent): Html {
  const { applicationName, accountName, email, asked, destination, isKept, hidden, logOut } = consent;
  const name = bdi(applicationName);
  const isMore = asked.anew.length > 0 && asked.allowed.length > 0;
  return html`<h1>Allow ${name}?</h1>
<p class="lead"><strong>${name}</strong> asks to act for you in the account <strong>${bdi(accountName)}</strong>.</p>
${
  isMore
    ? html`<h2>New: it also wants to</h2>
${scopeList(asked.anew, 'wanted')}<h2>You have allowed it to</h2>
${scopeList(asked.allowed)}`
    : html`<h2>It wants to</h2>
${scopeList([...asked.anew, ...asked.allowed], 'wanted')}`
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

/** Scopes in words, with their names for those who know them. */
export function scopeList(scopes: Scope[], kind: 'wanted' | 'allowed' = 'allowed'): Html {
  return html`<ul class="scopes ${kind}">
${scopes.map((scope) => html`<li>${scopeMeanings[scope]} <span class="quiet">${scope}</span></li>\n`)}</ul>
`;
}

export function codePage(applicationName: string, code: string): Html {
  return html`<h1>Your code</h1>
<p>Copy this code to <strong>${bdi(applicationName)}</strong>. It works once, within one minute.</p>
<code id="code">${code}</code>
<p class="quiet">Give it to nobody else. You can close this page.</p>`;
}
