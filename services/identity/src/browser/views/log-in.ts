// The log-in form, for an application or for the user's own pages, and the log-out form.
import { type Html, html } from '@almanac/service-kit/http/html';
import { bdi, field, hiddenFields, noticeBox, problemBox } from './parts.ts';

type LogIn = {
  /** The application that the user logs in for; undefined for the user's own pages. */
  applicationName: string | undefined;
  isForConsole: boolean;
  hidden: Record<string, string>;
  forgotPath: string;
  notice?: string;
  retry?: { email: string; accountNumber: string; problem: string };
};

/** The page with the log-in form. */
export function logInPage({ applicationName, isForConsole, hidden, forgotPath, notice, retry }: LogIn): Html {
  return html`${noticeBox(notice)}<h1>Log in</h1>
<p class="lead">${leadOf(applicationName, isForConsole)}</p>
${problemBox('You are not logged in', retry?.problem, 'email')}<form method="post" action="/oauth/login">
${hiddenFields(hidden)}${field({
  name: 'email',
  label: 'E-mail',
  type: 'email',
  autocomplete: 'username',
  value: retry?.email ?? '',
  isBad: retry !== undefined,
  autofocus: true,
})}${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}${
  applicationName === undefined && accountField(retry?.accountNumber ?? '')
}<button type="submit">Log in</button>
</form>
<p class="after"><a href="${forgotPath}">Forgot your password?</a></p>`;
}

function leadOf(applicationName: string | undefined, isForConsole: boolean): Html | string {
  if (applicationName !== undefined) return html`to continue to <strong>${bdi(applicationName)}</strong>.`;
  return isForConsole ? 'to continue to the console.' : 'to see which applications act for you.';
}

function accountField(value: string): Html {
  return field({
    name: 'account',
    label: 'Account number',
    type: 'text',
    autocomplete: 'off',
    inputmode: 'numeric',
    hint: 'Only needed when your address is in several accounts.',
    value,
    optional: true,
  });
}

/** The page that asks for confirmation of a log-out. */
export function logOutPage(email: string, hidden: Record<string, string>): Html {
  return html`<h1>Log out?</h1>
<p>You are logged in as <strong>${bdi(email)}</strong>. Applications that you have allowed go on working.</p>
<form method="post" action="/oauth/logout">
${hiddenFields(hidden)}<button type="submit">Log out</button>
</form>
<p class="after"><a href="/oauth/applications">Stay logged in</a></p>`;
}
