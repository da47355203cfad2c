// The secrets of endpoints: stored encrypted, each for its endpoint alone, and used to sign.
import { randomBytes } from 'node:crypto';
import { ServiceError } from '@almanac/service-kit/errors';
import { seal, unseal } from '@almanac/service-kit/text/sealed-text';
import { Webhook } from 'standardwebhooks';

export type SealedSecret = Uint8Array<ArrayBuffer>;

export type WebhookSecrets = {
  /** A new secret of 256 random bits, `whsec_…`. */
  create(): string;
  seal(endpointId: number, secret: string): SealedSecret;
  /** Throws when it was sealed with a key that is not known. */
  open(endpointId: number, sealed: Uint8Array): string;
  /** The secret, sealed with the key of now; undefined when it is already. */
  reseal(endpointId: number, sealed: Uint8Array): SealedSecret | undefined;
};

/** `previous` decrypts, and never encrypts. Without a key no secret can be stored. */
export function createWebhookSecrets(key: Buffer | undefined, previous?: Buffer): WebhookSecrets {
  const owner = (endpointId: number) => `webhook_endpoint ${endpointId}`;
  const required = () => {
    if (key) return key;
    throw new ServiceError('unavailable', 'Webhooks are not set up: JOBS_KEY_ENCRYPTION_KEY is not set.');
  };
  const open = (endpointId: number, sealed: Uint8Array) => {
    for (const each of [required(), previous]) {
      const secret = each && unseal(each, owner(endpointId), sealed);
      if (secret !== undefined) return secret;
    }
    throw new Error('The secret of a webhook endpoint was sealed with another JOBS_KEY_ENCRYPTION_KEY.');
  };
  return {
    create: () => `whsec_${randomBytes(32).toString('base64')}`,
    seal: (endpointId, secret) => seal(required(), owner(endpointId), secret),
    open,
    reseal: (endpointId, sealed) =>
      unseal(required(), owner(endpointId), sealed) === undefined
        ? seal(required(), owner(endpointId), open(endpointId, sealed))
        : undefined,
  };
}

/**
 * The headers of a message by the Standard Webhooks specification. Each secret makes a signature,
 * so that receivers find the one they know while a secret is replaced.
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Almanac-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}
