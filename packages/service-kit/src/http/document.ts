// A document in memory. It is compressed once for each encoding, at the first request that accepts
// it, unless it comes compressed; clients revalidate their copy by the digest of its content.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import Negotiator from 'negotiator';

export type Document = {
  /** The media type, or a file extension that stands for it. */
  type: string;
  content: Buffer;
  /** The digest of the content. */
  digest: string;
  /** The content in the encodings that were requested so far. */
  encoded: Map<Encoding, Promise<Buffer>>;
};

type Encoding = 'br' | 'gzip';

// These take less than 0.2 s for two megabytes; higher levels take many times that for a few
// percent.
const encoders: Record<Encoding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) => promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (content) => promisify(gzip)(content, { level: 6 }),
};
const encodings = Object.keys(encoders) as Encoding[];

/** A smaller document fits into one packet in any encoding. */
const smallestBytes = 1_024;

/** A document with this content, and with the encodings of it that exist already. */
export function createDocument(
  type: string,
  content: Buffer,
  compressed: Partial<Record<Encoding, Buffer>> = {},
): Document {
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 24);
  const encoded = new Map<Encoding, Promise<Buffer>>();
  for (const encoding of encodings) {
    const bytes = compressed[encoding];
    if (bytes) encoded.set(encoding, Promise.resolve(bytes));
  }
  return { type, content, digest, encoded };
}

/** For what may change under its address: a copy may be kept, and is revalidated at each use. */
export const revalidated = 'no-cache';

/**
 * Answers with the document, compressed if the client accepts that and `compress` is on; 304 when
 * the client has it already.
 */
export async function sendDocument(
  req: Request,
  res: Response,
  document: Document,
  compress: boolean,
  cacheControl: string = revalidated,
): Promise<void> {
  const isWorthIt = compress && document.content.length >= smallestBytes;
  const encoding = isWorthIt ? chooseEncoding(req) : undefined;
  const content = encoding ? await encode(document, encoding) : document.content;
  res.set('Cache-Control', cacheControl);
  res.set('ETag', encoding ? `"${document.digest}-${encoding}"` : `"${document.digest}"`);
  if (isWorthIt) res.vary('Accept-Encoding');
  if (encoding && !req.fresh) res.set('Content-Encoding', encoding);
  res.type(document.type).send(content);
}

function encode({ content, encoded }: Document, encoding: Encoding): Promise<Buffer> {
  const present = encoded.get(encoding);
  if (present) return present;
  const bytes = encoders[encoding](content);
  encoded.set(encoding, bytes);
  bytes.catch(() => encoded.delete(encoding));
  return bytes;
}

// Of encodings that the client likes equally, the first one. The types lack the second parameter.
type Negotiation = { encoding(available: string[], options: { preferred: string[] }): string | undefined };

function chooseEncoding(req: Request): Encoding | undefined {
  const negotiation = new Negotiator(req) as Negotiation;
  const chosen = negotiation.encoding([...encodings, 'identity'], { preferred: encodings });
  return encodings.find((encoding) => encoding === chosen);
}
