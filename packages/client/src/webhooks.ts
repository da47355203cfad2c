// Messages that Almanac sends to an address of yours, signed by Standard Webhooks.
import { WebhookVerificationError as Refusal, Webhook } from 'standardwebhooks';
import type { Event } from './feeds.ts';

/** The signature of a message does not hold, or the message is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** The headers of a request: of fetch, of Node or of a framework. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * The event of a message, once its signature holds and it is at most five minutes old; throws a
 * WebhookVerificationError otherwise. `body`: the bytes or the text as they came, never parsed and
 * written again. `secret`: that of the webhook (`whsec_…`), or several while one is replaced.
 * Messages may come twice and in any order: `id` of the event says so.
 */
export function verifyWebhook(body: string | Uint8Array, headers: WebhookHeaders, secret: string | string[]): Event {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const given = headersOf(headers);
  let reason = 'No secret was given';
  for (const each of [secret].flat()) {
    try {
      return new Webhook(each).verify(text, given) as Event;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reason = error.message;
    }
  }
  throw new WebhookVerificationError(reason);
}

function headersOf(headers: WebhookHeaders): Record<string, string> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String([value].flat()[0] ?? '')]));
}
