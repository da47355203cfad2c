// Time limits that a production system needs and a test must not reach: many tests share a machine,
// and each asks for much at once.
import { connectionTimeout } from '@almanac/service-kit/postgres/database';
import { unaryDeadline } from '@almanac/service-kit/rpc/client';

const patienceMs = 120_000;

/**
 * From now on RPCs without a deadline of their own and queries that wait for a connection have two
 * minutes.
 */
export function waitLonger(): void {
  unaryDeadline.ms = patienceMs;
  connectionTimeout.ms = patienceMs;
}
