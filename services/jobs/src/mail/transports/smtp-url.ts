// Reads JOBS_SMTP_URL when it names a mail server. Nothing is sent without TLS unless the URL says
// so.
import { readCaFile } from '@almanac/service-kit/config/ca-file';
import { isLoopback } from '@almanac/service-kit/http/client-address';

export type SmtpServer = {
  host: string;
  port: number;
  /**
   * implicit: TLS from the first byte. required: by STARTTLS, else nothing is sent. none: no TLS.
   */
  tls: 'implicit' | 'required' | 'none';
  /** A file with the authorities of the server, if they are not publicly known ones. */
  caFile?: string;
  auth?: { user: string; pass: string };
};

/** Throws an error that names the problem without the URL's secrets. */
export function readSmtpUrl(text: string): SmtpServer {
  const url = new URL(text);
  const implicit = url.protocol === 'smtps:';
  const { tls = 'required', ca_file, ...others } = Object.fromEntries(url.searchParams);
  if (url.hostname === '') throw new Error('the host is missing');
  if (url.pathname !== '' && url.pathname !== '/')
    throw new Error('nothing may follow the host but ?tls=none or ?ca_file=…');
  if (Object.keys(others).length > 0 || !['required', 'none'].includes(tls) || (implicit && tls === 'none'))
    throw new Error('the only parameters are ca_file and, with smtp://, tls=none');
  if (ca_file !== undefined && tls === 'none') throw new Error('ca_file and tls=none exclude each other');
  const caFile = readCaFile(url);
  if ((url.username === '') !== (url.password === '')) throw new Error('user and password belong together');
  const server: SmtpServer = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'), // an IPv6 address has brackets in a URL and nowhere else
    port: url.port === '' ? (implicit ? 465 : 587) : Number(url.port),
    tls: implicit ? 'implicit' : (tls as 'required' | 'none'),
    ...(caFile ? { caFile } : {}),
  };
  if (url.username === '') return server;
  if (server.tls === 'none' && !isLoopback(url.hostname))
    throw new Error('tls=none would send the password in plain text');
  return { ...server, auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } };
}
