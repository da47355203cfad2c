// Parameters of the OAuth endpoints: form-encoded, each at most once; those without a value count
// as not sent (RFC 6749, 3.1 and 3.2).
import express, { type Request, type Response } from 'express';
import { OAuthError } from './oauth-error.ts';

const raw = express.raw({ type: () => true, limit: 64 * 1024, inflate: false });

/** The parameters of a query or a form. */
export class Parameters {
  private readonly values = new Map<string, string>();
  /** Names that occur more than once. */
  readonly repeated = new Set<string>();

  constructor(text: string) {
    for (const [name, value] of new URLSearchParams(text)) {
      if (this.values.has(name)) this.repeated.add(name);
      this.values.set(name, value);
    }
  }

  /** The value; undefined when missing or empty. */
  find(name: string): string | undefined {
    return this.values.get(name) || undefined;
  }

  /** The value; throws invalid_request when missing or empty. */
  get(name: string): string {
    const value = this.find(name);
    if (value === undefined) throw new OAuthError('invalid_request', `${name} is required.`);
    return value;
  }
}

/** Reads a form sent by a program; a repeated parameter is an error. */
export async function readForm(req: Request, res: Response): Promise<Parameters> {
  const parameters = await readPostedForm(req, res);
  for (const name of parameters.repeated)
    throw new OAuthError('invalid_request', `${name.slice(0, 100)} must not be given more than once.`);
  return parameters;
}

/** Reads a form posted by a browser. */
export async function readPostedForm(req: Request, res: Response): Promise<Parameters> {
  const type = String(req.headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new OAuthError('invalid_request', 'Send the parameters as application/x-www-form-urlencoded.');
  await new Promise<void>((resolve, reject) => raw(req, res, (error) => (error ? reject(error) : resolve())));
  return new Parameters(Buffer.isBuffer(req.body) ? req.body.toString('utf8') : '');
}

/** The parameters of the query, from the raw URL rather than Express's parsed query. */
export function readQuery(req: Request): Parameters {
  const at = req.originalUrl.indexOf('?');
  return new Parameters(at < 0 ? '' : req.originalUrl.slice(at + 1));
}
