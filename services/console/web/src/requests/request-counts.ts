import type { Schemas } from '../api/client.ts';

/** `+12 ~340 −2`: what a request does to a table. */
export function countsOf({ created, updated, deleted }: Schemas['ChangeRequestTable']): string {
  const counts: [string, number][] = [
    ['+', created],
    ['~', updated],
    ['−', deleted],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([sign, count]) => `${sign}${count}`)
    .join(' ');
}
