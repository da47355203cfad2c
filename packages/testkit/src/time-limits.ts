// Longer time limits for tests. The limits of production are too short on a machine that runs many
// tests at once.
import { connectionTimeout } from '@almanac/service-kit/postgres/database';
import { unaryDeadline } from '@almanac/service-kit/rpc/client';

const limitMs = 120_000;

/**
 * Gives RPCs without a deadline, and queries that wait for a connection, two minutes: in this
 * process, from now on.
 */
export function waitLonger(): void {
  unaryDeadline.ms = limitMs;
  connectionTimeout.ms = limitMs;
}
