// The output when the system is ready: addresses, credentials, a first call, how to stop.
import { relative } from 'node:path';
import { isLoopback } from '@almanac/service-kit/http/client-address';
import { type Home, readJson } from './home.ts';
import type { DemoAccount } from './secrets.ts';

export type Credentials = { base_url: string } & DemoAccount;

/** The text. Password and secret stay in their file, from which the calls read them. */
export function finalScreen(home: Home, baseUrl: string, env: NodeJS.ProcessEnv): string {
  const credentials = readJson<Credentials>(home.credentials);
  const file = shortPath(home.credentials);
  const lines = ['', `  Almanac is ready         ${baseUrl}`];
  if (env.GATEWAY_CONSOLE !== 'off') lines.push(`  Console                  ${baseUrl}/console/`);
  lines.push(`  API reference            ${baseUrl}/docs`);
  if (credentials)
    lines.push(
      `  Log in as                ${people(credentials)}`,
      `  Passwords (demo)         ${file}`,
      '',
      '  Try it:',
      '',
      `  TOKEN=$(curl -s -u "$(node -p 'c=JSON.parse(fs.readFileSync("${file}")).application,c.client_id+":"+c.client_secret')" \\`,
      `    -d 'grant_type=client_credentials&scope=api' ${baseUrl}/oauth/token | node -p 'JSON.parse(fs.readFileSync(0)).access_token')`,
      `  curl -s -H "Authorization: Bearer $TOKEN" ${baseUrl}/api/v1/deployed_table_definitions`,
    );
  else
    lines.push(
      '',
      '  A new account            npm run -s admin -- accounts create --name Acme --plan business --admin-email me@example.com',
    );
  lines.push('', ...mailLines(home, baseUrl, env));
  lines.push(`  Logs                     ${shortPath(home.logs)}/`, '  Stop                     Ctrl-C', '');
  return lines.join('\n');
}

function people({ admin, people }: Credentials): string {
  const others = people
    ? `, or as ${people.steward.email} (proposes changes) or ${people.approver.email} (approves)`
    : '';
  return `${admin.email}${others}`;
}

// The page is for this machine only. Without an SMTP server, the folder always has the mails.
function mailLines(home: Home, baseUrl: string, env: NodeJS.ProcessEnv): string[] {
  if (env.JOBS_SMTP_URL) return [];
  const where = isLoopback(new URL(baseUrl).hostname) ? `${baseUrl}/dev/mail` : `${shortPath(home.mail)}/`;
  return [`  Mails (kept, not sent)   ${where}`];
}

function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}
