// Where a version of a row comes from: who made it, through which channel, at whose request.
import type { CallContext } from '@almanac/service-kit/call-context';

/** The channels, and how a row says through which of them it came. */
export const channels = {
  api: 'a',
  import: 'i',
  promotion: 'p',
  restore: 'r',
  revert: 'v',
} as const;
export type Channel = keyof typeof channels;

export type Origin = { actor: string; channel: Channel; requestId: string };

type Caller = Pick<CallContext, 'userId' | 'applicationId' | 'issuer'>;

/** `user:7`, `application:3`; a service acting on its own goes by its name. */
export function actorOf(call: Caller): string {
  if (call.userId !== undefined) return `user:${call.userId}`;
  if (call.applicationId !== undefined) return `application:${call.applicationId}`;
  return call.issuer;
}

export function originOf(call: Caller & Pick<CallContext, 'requestId'>, channel: Channel): Origin {
  return { actor: actorOf(call), channel, requestId: call.requestId };
}

/** The channel as a row has it. */
export const channelSql = (channel: Channel): string => `'${channels[channel]}'::"char"`;
