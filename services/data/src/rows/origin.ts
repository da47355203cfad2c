// The origin of a version of a row: the caller who made it, the channel, and the request.
import { type CallContext, callerName } from '@almanac/service-kit/caller/call-context';

/** The channels, and the letter of each in a row. */
export const channels = {
  api: 'a',
  import: 'i',
  promotion: 'p',
  restore: 'r',
  revert: 'v',
  deployment: 'd',
  change_request: 'c',
} as const;
export type Channel = keyof typeof channels;

export type Origin = { actor: string; channel: Channel; requestId: string };

type Caller = Pick<CallContext, 'userId' | 'applicationId' | 'issuer' | 'requestId'>;

/** The origin of what a call writes. */
export function originOf(call: Caller, channel: Channel): Origin {
  return { actor: callerName(call), channel, requestId: call.requestId };
}

/** The letter of a channel in SQL. */
export const channelSql = (channel: Channel): string => `'${channels[channel]}'::"char"`;
