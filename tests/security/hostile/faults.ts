// What holds of every answer, whatever the request (U1 to U3).
import { refusalFault } from '@almanac/testkit/calls/refusal';
import type { Case } from './rows.ts';
import type { Answer } from './wire.ts';

// U3: nothing of the implementation. Texts of the request itself may be repeated.
const insides = [
  /\bat [\w.<>]+ \(|\.[jt]s:\d+|node_modules|node:internal|\bE(?:CONN|PIPE|NOENT|HOST)\w+|\bHPE_\w+|127\.0\.0\.1/g,
  /\bselect .+ from\b|\binsert into\b|\bpg_\w+|postgres|prisma|sqlstate|http-proxy|\b(?:jose|zod|grpc|express|pino)\b/gi,
];

/** The violations of an answer: of these rules, or of what its case expects. */
export function faultsOf(tried: Case, answer: Answer): string[] {
  const { status, headers, body, count, isClosed } = answer;
  const faults: string[] = [];
  const expected = [tried.status].flat() as number[];
  if (!expected.includes(status)) faults.push(`answered ${status} instead of ${expected.join(' or ')}`);
  if (status >= 500) faults.push('is a server error');
  if (!isClosed) faults.push('left the connection open');
  if (count > 1) faults.push(`was answered ${count} times`);
  if (status >= 400 && body !== '' && !isContractBody(body)) faults.push("lacks the contract's body");
  if (status !== 0 && headers['x-content-type-options'] !== 'nosniff')
    faults.push('lacks X-Content-Type-Options: nosniff');
  const sent = tried.bytes.toString('latin1');
  const isOfApi = /^\w+ \/api\/v1\//.test(sent) && status !== 0;
  if (isOfApi && headers['cache-control'] !== 'no-store') faults.push('may be cached');
  const leaked = insides
    .flatMap((inside) => [...body.matchAll(inside)])
    .map(([match]) => match)
    .filter((match) => !sent.includes(match));
  if (status >= 400 && leaked.length > 0) faults.push(`leaks ${leaked.join(', ')}`);
  if (tried.says !== undefined && !(typeof tried.says === 'string' ? body.includes(tried.says) : tried.says.test(body)))
    faults.push(`does not say ${tried.says}`);
  for (const [name, pattern] of Object.entries(tried.headers ?? {}))
    if (!pattern.test(headers[name] ?? '')) faults.push(`${name} is ${headers[name]}`);
  const wrong = faults.length === 0 ? tried.wrong?.(answer) : undefined;
  if (wrong !== undefined) faults.push(wrong);
  return faults.length === 0 ? [] : [...faults, `${status} ${body.slice(0, 300)}`];
}

function isContractBody(text: string): boolean {
  try {
    const body = JSON.parse(text) as object;
    return refusalFault(body) === undefined && Object.keys(body).join() === 'error,errors,problems';
  } catch {
    return false;
  }
}
