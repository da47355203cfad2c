// A fake payment provider that signs messages like a real one.
import { Webhook } from 'standardwebhooks';

export type Message = { id?: string; type: string; timestamp?: Date; data: unknown };

let messages = 0;

/** A new secret in the format of providers. */
export const newSecret = () => `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`;

/** A signed request with a message; by default it occurred and is sent now. */
export function signed(secret: string, { id, type, timestamp = new Date(), data }: Message, sentAt = new Date()) {
  messages += 1;
  return signedText(secret, JSON.stringify({ type, timestamp: timestamp.toISOString(), data }), {
    id: id ?? `msg_${messages}`,
    sentAt,
  });
}

/** The same for any text. */
export function signedText(secret: string, body: string, { id = 'msg', sentAt = new Date() } = {}) {
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
    } as Record<string, string>,
  };
}
