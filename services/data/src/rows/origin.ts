// Where a version of a row comes from: who made it, through which channel, at whose request.
import { type CallContext, callerName } from '@almanac/service-kit/caller/call-context';

/** The channels, and how a row says through which of them it came. */
export const channels = {
  api: 'a',
  import: 'i',
  promotion: 'p',
  restore: 'r',
  revert: 'v',
  deployment: 'd',
} as const;
export type Channel = keyof typeof channels;

export type Origin = { actor: string; channel: Channel; requestId: string };

type Caller = Pick<CallContext, 'userId' | 'applicationId' | 'issuer' | 'requestId'>;

export function originOf(call: Caller, channel: Channel): Origin {
  return { actor: callerName(call), channel, requestId: call.requestId };
}

/** The channel as a row has it. */
export const channelSql = (channel: Channel): string => `'${channels[channel]}'::"char"`;
