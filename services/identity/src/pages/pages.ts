// What people see: log in, allow or refuse, take a code over by hand, and what went wrong. Works without scripts.
import { type Html, html } from '@almanac/service-kit/html';
import { type Scope, scopeMeanings } from '../oauth/scopes.ts';
import { hiddenFields } from './layout.ts';

type LogIn = {
  applicationName: string;
  /** The authorization request and the CSRF token. */
  hidden: Record<string, string>;
  email?: string;
  problem?: string;
};

export function logInPage({ applicationName, hidden, email, problem }: LogIn): Html {
  return html`<h1>Log in</h1>
${
  problem !== undefined &&
  html`<div role="alert" tabindex="-1">
<h2>You are not logged in</h2>
<p id="problem"><a href="#email">${problem}</a></p>
</div>`
}
<p>to continue to <strong>${applicationName}</strong></p>
<form method="post" action="/oauth/login">
${hiddenFields(hidden)}
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required autofocus value="${email ?? ''}"${
    problem !== undefined && html` aria-invalid="true" aria-describedby="problem"`
  }>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">Log in</button>
</form>`;
}

type Consent = {
  applicationName: string;
  accountName: string;
  email: string;
  scopes: Scope[];
  /** Where the answer goes, in words. */
  destination: string;
  hidden: Record<string, string>;
  logOut: Record<string, string>;
};

export function consentPage({
  applicationName,
  accountName,
  email,
  scopes,
  destination,
  hidden,
  logOut,
}: Consent): Html {
  return html`<h1>Allow ${applicationName}?</h1>
<p><strong>${applicationName}</strong> asks to act for you in the account <strong>${accountName}</strong>.</p>
<h2>It wants to</h2>
<ul>
${scopes.map((scope) => html`<li>${scopeMeanings[scope]} <span class="quiet">(${scope})</span></li>\n`)}
</ul>
<p class="quiet">It can never do more than you may yourself. ${destination}</p>
<form method="post" action="/oauth/authorize">
${hiddenFields(hidden)}
<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="second">Don’t allow</button>
</form>
<div class="quiet">You are logged in as ${email}.
<form class="inline" method="post" action="/oauth/logout">
${hiddenFields(logOut)}
<button type="submit" class="plain">Log out</button>
</form></div>`;
}

export function codePage(applicationName: string, code: string): Html {
  return html`<h1>Your code</h1>
<p>Copy this code to <strong>${applicationName}</strong>. It works once, within one minute.</p>
<code id="code">${code}</code>
<p class="quiet">Give it to nobody else. You can close this page.</p>`;
}

export function messagePage(title: string, sentences: string[]): Html {
  return html`<div role="alert"><h1>${title}</h1></div>
${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}`;
}
