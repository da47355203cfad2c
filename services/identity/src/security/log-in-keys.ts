// The keys under which log-ins are throttled: counted at the log-in page, cleared by an operator.
import type { ThrottleKey } from './throttle.ts';

/** Tries at the account that the application or the user names. */
export const ownAccountKey = (accountId: number, emailKey: string) => `${accountId}:${emailKey}`;

/** Tries without an account, for each user with the address. */
export const anyAccountKey = (userId: number) => `any user:${userId}`;

/** The counters of a try from a device that is not known. */
export const unknownDeviceKeys = (throttleKey: string, address: string): ThrottleKey[] => [
  { rule: 'logInFrom', key: `${throttleKey}|${address}` },
  { rule: 'logInTo', key: throttleKey },
];
