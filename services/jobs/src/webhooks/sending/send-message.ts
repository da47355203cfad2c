// Sends one message by HTTP. The address is checked in the look-up of the connection itself, so no
// second answer of DNS can replace the checked one. Redirects are not followed.
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isReachable } from './address-rules.ts';
import { mayUse, type Reach } from './endpoint-url.ts';
import { addressOf } from './hosts.ts';
import { readRetryAfter } from './retry-after.ts';

export type Message = { url: string; headers: Record<string, string>; body: string };

export type Bounds = {
  /** From the look-up of the host to the end of the answer. */
  totalMs: number;
  /** Bytes that are read of an answer. */
  answerBytes: number;
};

export const sendingBounds: Bounds = { totalMs: 15_000, answerBytes: 64 * 1024 };

/** Bytes of an answer that are kept, to be shown. */
const keptBytes = 1024;

/** What became of a message: the answer of the receiver, or why there is none. */
export type Outcome = { durationMs: number } & (
  | (Answer & { error?: undefined })
  | { status?: undefined; answer?: undefined; retryAfterMs?: undefined; error: string }
);

/** `retryAfterMs`: how long the receiver asks to wait; 0 when it asks for nothing. */
type Answer = { status: number; answer: string; retryAfterMs: number };

/** Whether the receiver has taken the message. */
export const isAccepted = ({ status = 0 }: Outcome): boolean => status >= 200 && status < 300;

class RefusedAddress extends Error {}

/**
 * Sends a message, once. The status decides as soon as it has arrived: what becomes of the rest of
 * the answer changes nothing.
 */
export async function sendMessage(
  message: Message,
  reach: Reach,
  { bounds = sendingBounds, stopping }: { bounds?: Bounds; stopping?: AbortSignal } = {},
): Promise<Outcome> {
  const startedAt = performance.now();
  const tooLate = AbortSignal.timeout(bounds.totalMs);
  const signal = stopping ? AbortSignal.any([tooLate, stopping]) : tooLate;
  const ended = await request(message, reach, bounds, signal).catch((error: unknown) => ({
    error: tooLate.aborted ? `There was no answer within ${bounds.totalMs / 1000} s.` : sentenceOf(error),
  }));
  return { ...ended, durationMs: Math.round(performance.now() - startedAt) };
}

async function request(message: Message, reach: Reach, { answerBytes }: Bounds, signal: AbortSignal): Promise<Answer> {
  const url = new URL(message.url);
  const literal = addressOf(url);
  if (literal !== undefined) requireReachable(url, [literal], reach);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  // No connection is kept: the next message may have another address.
  const options = { method: 'POST', headers: message.headers, agent: false, signal, maxHeaderSize: 16 * 1024 };
  const module = url.protocol === 'https:' ? https : http;
  let answered: (() => void) | undefined;
  const sent = module.request(url, { ...options, lookup: checkedLookup(url, reach) }, (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const { statusCode: status = 0, headers } = response;
    const retryAfterMs = readRetryAfter(headers['retry-after'], new Date());
    answered = () => resolve({ status, answer: shown(chunks), retryAfterMs });
    response.on('data', (chunk: Buffer) => {
      if (size < keptBytes) chunks.push(chunk);
      size += chunk.length;
      if (size >= answerBytes) sent.destroy();
    });
    for (const event of ['end', 'error', 'close']) response.on(event, () => answered?.());
  });
  sent.on('error', (error) => (answered ? answered() : reject(error)));
  sent.on('close', () => (answered ? answered() : reject(new Error('closed'))));
  sent.end(message.body);
  return promise;
}

// Node looks names up in here, and addresses in a URL nowhere.
function checkedLookup(url: URL, reach: Reach): LookupFunction {
  return (host, { all }, callback) => {
    const look = async () => {
      const addresses = await reach.resolve(host);
      requireReachable(url, addresses, reach);
      return addresses.map((address) => ({ address, family: isIP(address) }));
    };
    look().then(
      (found) => {
        const [first] = found;
        if (all) callback(null, found);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error) => callback(error, []),
    );
  };
}

// One address that must not be reached refuses them all: a receiver has no reason to mix them.
function requireReachable(url: URL, addresses: readonly string[], { networks }: Reach): void {
  const isRefused = addresses.length === 0 || !addresses.every((address) => isReachable(address, networks));
  if (isRefused || !mayUse(url, addresses, networks)) throw new RefusedAddress();
}

// The text of PostgreSQL has no U+0000.
function shown(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).subarray(0, keptBytes).toString('utf8').replaceAll('\u0000', '');
}

const sentences: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before an answer.',
  EPIPE: 'The connection was closed before an answer.',
  ETIMEDOUT: 'No connection could be made.',
  EHOSTUNREACH: 'No connection could be made.',
  ENETUNREACH: 'No connection could be made.',
  ENOTFOUND: 'The name of the host is not in DNS.',
  ENODATA: 'The name of the host is not in DNS.',
  ESERVFAIL: 'DNS does not answer for the name of the host.',
  ETIMEOUT: 'DNS does not answer for the name of the host.',
};

// The message of the error itself may name addresses of the operator's network.
function sentenceOf(error: unknown): string {
  if (error instanceof RefusedAddress) return 'The host leads to an address that webhooks do not reach.';
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  const known = sentences[code];
  if (known) return known;
  if (/CERT|SIGNATURE|ISSUER|ERR_TLS/.test(code)) return `The certificate of the receiver is not valid (${code}).`;
  if (/^(HPE_|ERR_HTTP|ERR_STREAM)/.test(code)) return 'The answer is not HTTP.';
  return /^[A-Z_]{3,40}$/.test(code)
    ? `The message could not be sent (${code}).`
    : 'The connection was closed before an answer.';
}
