// The list of a user's applications, with a button to take access back.
import { type Html, html } from '@almanac/service-kit/http/html';
import type { Scope } from '../../tokens/scopes.ts';
import { scopeList } from './consent.ts';
import { bdi, day, hiddenFields, noticeBox } from './parts.ts';

type AllowedApplication = { id: number; name: string; scopes: Scope[]; since: Date; lastUsed: Date | undefined };

type Applications = {
  email: string;
  account: { id: number; name: string };
  applications: AllowedApplication[];
  notice: string | undefined;
  /** The hidden fields of the form that takes back what one application may do. */
  takeBack(applicationId: number): Record<string, string>;
  logOut: Record<string, string>;
};

/** The page /oauth/applications. */
export function applicationsPage(shown: Applications): Html {
  const { email, account, applications, notice, takeBack, logOut } = shown;
  return html`${noticeBox(notice)}<h1>Your applications</h1>
${
  applications.length === 0
    ? html`<p class="lead">No application acts for you. When you allow one, it is listed here.</p>\n`
    : html`<p class="lead">These may act for you in the account <strong>${bdi(account.name)}</strong>, never with more rights than you have yourself.</p>
<ul class="applications">
${applications.map((application) => applicationItem(application, takeBack(application.id)))}</ul>
`
}<div class="after">
<p>You are logged in as ${bdi(email)}. Account number: ${account.id}.</p>
<p><a href="/oauth/password/forgot">Set a new password</a></p>
<form method="post" action="/oauth/logout">
${hiddenFields(logOut)}<button type="submit" class="second small">Log out</button>
</form></div>`;
}

function applicationItem(application: AllowedApplication, hidden: Record<string, string>): Html {
  const { id, name, scopes, since, lastUsed } = application;
  return html`<li>
<h2 id="application-${id}">${bdi(name)}</h2>
<p class="quiet">Allowed on ${day(since)}, ${lastUsed ? html`last used on ${day(lastUsed)}` : 'not used yet'}.</p>
${scopeList(scopes)}<form method="post" action="/oauth/applications">
${hiddenFields(hidden)}<button type="submit" class="danger small" aria-describedby="application-${id}">Take back access</button>
</form>
</li>
`;
}
