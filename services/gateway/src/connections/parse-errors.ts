// Bytes that Node's HTTP parser rejects: there is no request and no response object, so the answer
// is written to the socket.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { codesOfKinds, type ErrorKind, errorKinds } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { ProblemCode } from '@almanac/service-kit/problems';

type ParserError = Error & { code?: string; rawPacket?: Buffer };

type Refusal = { status: number; reason: string; label: string; code: ProblemCode; message: string };

const reasons: Record<number, string> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
};

const refusal = (kind: ErrorKind, message: string, code: ProblemCode = codesOfKinds[kind]): Refusal => {
  const { status, label } = errorKinds[kind];
  return { status, reason: reasons[status] ?? 'Error', label, code, message };
};

function explain(error: ParserError): Refusal {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const start = error.rawPacket?.subarray(0, limits.urlBytes + 32).includes('\r\n') === false;
    return start
      ? refusal('uri_too_long', `The address is longer than ${limits.urlBytes} bytes.`)
      : refusal('headers_too_large', `The headers are larger than ${limits.headerBytes} bytes.`);
  }
  if (error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return refusal('too_large', 'The chunk extensions are too large.');
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return {
      status: 408,
      reason: reasons[408] as string,
      label: 'Request timeout',
      code: 'request_timeout',
      message: 'The request took too long.',
    };
  return refusal('bad_request', 'The request is not well-formed HTTP.', 'malformed');
}

/**
 * Answers a parser error in the contract's form and closes the connection. Returns what was sent,
 * or undefined when no answer is possible.
 */
export function answerParseError(
  error: ParserError,
  socket: Duplex,
): { status: number; request_id: string } | undefined {
  // Once an answer has begun on this connection, no other can follow it.
  const isAnswering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering) {
    socket.destroy();
    return undefined;
  }
  const answer = explain(error);
  const requestId = randomUUID();
  socket.end(rawAnswer(answer, requestId));
  setTimeout(() => socket.destroy(), 1_000).unref();
  return { status: answer.status, request_id: requestId };
}

/** Refuses CONNECT: the gateway is no forward proxy. */
export function refuseConnect(socket: Duplex): void {
  socket.end(rawAnswer(refusal('method_not_allowed', 'CONNECT is not supported.'), randomUUID()));
}

function rawAnswer({ status, reason, label, code, message }: Refusal, requestId: string): string {
  const body = JSON.stringify({ error: label, errors: [message], problems: [{ code, message }] });
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
