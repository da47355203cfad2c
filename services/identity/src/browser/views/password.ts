// The forms for setting a password with a mailed link and for requesting such a link.
import { type Html, html } from '@almanac/service-kit/http/html';
import { passwordLimits } from '../../passwords/passwords.ts';
import { bdi, field, hiddenFields, problemBox } from './parts.ts';

type SetPassword = { email: string; accountName: string; hidden: Record<string, string>; problem?: string };

/** The page with the form for a new password. */
export function setPasswordPage({ email, accountName, hidden, problem }: SetPassword): Html {
  const { minimum, maximum } = passwordLimits;
  return html`<h1>Set your password</h1>
<p class="lead">for the account <strong>${bdi(accountName)}</strong>.</p>
${problemBox('The password is not set', problem, 'password')}<form method="post" action="/oauth/password">
${hiddenFields(hidden)}${field({
  name: 'email',
  label: 'E-mail',
  type: 'email',
  autocomplete: 'username',
  value: email,
  readonly: true,
})}${field({
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  hint: `${minimum} to ${maximum} characters. A few words that don’t belong together are easy to keep in mind and hard to guess.`,
  isBad: problem !== undefined,
  autofocus: true,
})}${field({
  name: 'again',
  label: 'New password once more',
  type: 'password',
  autocomplete: 'new-password',
  isBad: problem !== undefined,
})}<button type="submit">Set password</button>
</form>`;
}

/** The one page for used, expired and unknown links. */
export function unusableLinkPage(): Html {
  return html`<h1>This link doesn’t work</h1>
<p>It was used already, is too old, or was not copied whole. Nothing was changed.</p>
<h2>How to get a new one</h2>
<ul>
<li>You have had a password: <a href="/oauth/password/forgot">ask for a link to set a new one</a>.</li>
<li>You were invited and never had one: an administrator of your account can send the invitation again.</li>
</ul>
<p class="after"><a href="/oauth/login">Log in</a></p>`;
}

type Forgot = {
  applicationName: string | undefined;
  hidden: Record<string, string>;
  backPath: string;
  retry?: { email: string; problem: string };
};

/** The page that asks for the e-mail address. */
export function forgotPasswordPage({ applicationName, hidden, backPath, retry }: Forgot): Html {
  return html`<h1>Forgot your password?</h1>
<p class="lead">We mail you a link with which you can set a new one${
    applicationName !== undefined && html` and then go on to <strong>${bdi(applicationName)}</strong>`
  }.</p>
${problemBox('No mail was sent', retry?.problem, 'email')}<form method="post" action="/oauth/password/forgot">
${hiddenFields(hidden)}${field({
  name: 'email',
  label: 'E-mail',
  type: 'email',
  autocomplete: 'username',
  value: retry?.email ?? '',
  isBad: retry !== undefined,
  autofocus: true,
})}<button type="submit">Mail me a link</button>
</form>
<p class="after"><a href="${backPath}">Back to log-in</a></p>`;
}

/** The page after the request; it doesn't reveal whether the address is known. */
export function linkSentPage(email: string, backPath: string): Html {
  return html`<h1>Look into your mail</h1>
<p>If a user here has the address <strong>${bdi(email)}</strong>, a mail with a link is on its way to it. The link works once, within an hour.</p>
<p class="quiet">No mail after some minutes? Look into the folder for spam, and see whether the address is right.</p>
<p class="after"><a href="${backPath}">Back to log-in</a></p>`;
}
