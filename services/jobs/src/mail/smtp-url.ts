// Reads JOBS_SMTP_URL where it names a mail server. Without TLS nothing is sent unless the URL says so.
import { isLoopback } from '@almanac/service-kit/client-address';

export type SmtpServer = {
  host: string;
  port: number;
  /** From the first byte, by STARTTLS and not otherwise, or not at all. */
  tls: 'implicit' | 'required' | 'none';
  auth?: { user: string; pass: string };
};

/** Throws what is wrong, without the URL's secrets. */
export function readSmtpUrl(text: string): SmtpServer {
  const url = new URL(text);
  const implicit = url.protocol === 'smtps:';
  const { tls = 'required', ...others } = Object.fromEntries(url.searchParams);
  if (url.hostname === '') throw new Error('the host is missing');
  if (url.pathname !== '' && url.pathname !== '/') throw new Error('nothing may follow the host but ?tls=none');
  if (Object.keys(others).length > 0 || !['required', 'none'].includes(tls) || (implicit && tls === 'none'))
    throw new Error('the only parameter is tls=none, with smtp://');
  if ((url.username === '') !== (url.password === '')) throw new Error('user and password belong together');
  const server: SmtpServer = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'), // an IPv6 address has brackets in a URL and nowhere else
    port: url.port === '' ? (implicit ? 465 : 587) : Number(url.port),
    tls: implicit ? 'implicit' : (tls as 'required' | 'none'),
  };
  if (url.username === '') return server;
  if (server.tls === 'none' && !isLoopback(url.hostname))
    throw new Error('tls=none would send the password readable for everybody on the way');
  return { ...server, auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } };
}
