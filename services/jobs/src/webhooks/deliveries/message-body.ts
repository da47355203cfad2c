// The body of a message: the event as `GET /events` shows it, and its time once more under the name
// that Standard Webhooks gives it. Events come as text, so that no number loses a digit.
import { apiVersion } from '../../events/account-event.ts';
import type { TakenDelivery } from './take-deliveries.ts';

/** The type of messages that an administrator sends to try an endpoint. */
export const testType = 'webhook.test';

type Parts = Pick<TakenDelivery, 'event' | 'is_test' | 'message_id' | 'endpoint_id' | 'created_at'>;

/**
 * The text that is signed and sent; undefined when the log no longer has the event. `changes`: the
 * rows that changed, as a JSON array.
 */
export function messageBody({ event, is_test, ...parts }: Parts, changes?: string): string | undefined {
  if (is_test) return JSON.stringify(testEvent(parts));
  if (event === null) return undefined;
  return changes === undefined ? event : `${event.slice(0, -1)},"changes":${changes}}`;
}

const testEvent = ({ message_id, endpoint_id, created_at }: Omit<Parts, 'event' | 'is_test'>) => ({
  id: message_id,
  type: testType,
  timestamp: created_at.toISOString(),
  time: created_at.toISOString(),
  actor: { type: 'system', id: null },
  resource: { type: 'webhook_endpoint', id: endpoint_id },
  api_version: apiVersion,
  data: {},
});
