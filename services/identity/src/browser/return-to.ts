// Where a log-in leads: to an application's authorization request, to a page of the console, or to
// the user's own page. It travels through forms as one opaque text, the subject that they sign.
import { consolePrefix } from '@almanac/service-kit/http/path';
import type { IdentityContext } from '../context.ts';
import { encodeQuery, unpack } from '../oauth/authorization-request.ts';

const parameter = 'return_to';
const maxLength = 2_000;

/** The subject of a log-in for the console; undefined for any other address, which is ignored. */
export function packReturnTo(ctx: IdentityContext, address: string): string | undefined {
  const path = findConsolePath(ctx, address);
  if (path === undefined) return undefined;
  return encodeQuery(new URLSearchParams({ [parameter]: path }));
}

/** The page of the console that a subject names; undefined when it names none. */
export function findReturnTo(ctx: IdentityContext, subject: string): string | undefined {
  const address = new URLSearchParams(unpack(subject)).get(parameter);
  return address === null ? undefined : findConsolePath(ctx, address);
}

/** Whether a subject is that of a log-in for the console. */
export const isReturnTo = (subject: string): boolean => new URLSearchParams(unpack(subject)).has(parameter);

// Read as the browser will read it: `/console/../x`, `//host` and `/\\host` lead elsewhere.
function findConsolePath(ctx: IdentityContext, address: string): string | undefined {
  const { publicUrl } = ctx.config.common;
  if (!address.startsWith(consolePrefix) || address.length > maxLength) return undefined;
  const url = URL.parse(address, publicUrl);
  if (url?.origin !== new URL(publicUrl).origin || !url.pathname.startsWith(consolePrefix)) return undefined;
  return `${url.pathname}${url.search}${url.hash}`;
}
