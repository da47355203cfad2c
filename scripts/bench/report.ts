// Says what comparisons with the bare server have come to.
import type { Comparison, Measured } from './compare.ts';

const sides = { gateway: 'through the gateway', service: 'at the data service', bare: 'bare server' } as const;

const row = (cells: string[]) =>
  cells.map((cell, place) => (place === 0 ? cell.padEnd(21) : cell.padStart(10))).join('');

/** A table for the operation: medians, the ratios to the bare server (1 is as fast and as cheap), the processes that the CPU went to. */
export function tellComparison({ name, measured, ratios }: Comparison, say: (text: string) => void): void {
  say(`\n${name}`);
  say(`${row(['', 'req/s', 'ratio', 'CPU ms', 'ratio', 'p50 ms', 'p99 ms'])}   CPU ms of each`);
  for (const side of ['gateway', 'service', 'bare'] as const) {
    const { perSecond, p50, p99, cpu } = measured[side];
    const ratio = side === 'bare' ? undefined : ratios[side];
    const cells = [
      sides[side],
      perSecond.toFixed(0),
      ratio?.perSecond.toFixed(2) ?? '',
      cpu.toFixed(3),
      ratio?.cpu.toFixed(2) ?? '',
      p50.toFixed(1),
      p99.toFixed(1),
    ];
    say(`${row(cells)}   ${ofEach(measured[side])}`);
  }
}

const ofEach = ({ cpuOf }: Measured) =>
  Object.entries(cpuOf)
    .map(([name, ms]) => `${name} ${ms.toFixed(3)}`)
    .join(', ');

/** What the gateway itself, and the booking of calls, cost each call. */
export function tellGateway(comparisons: Comparison[], say: (text: string) => void): void {
  say('\nCPU that the gateway adds to a call (itself, and billing)');
  for (const { name, measured } of comparisons) {
    const { gateway = 0, billing = 0 } = measured.gateway.cpuOf;
    say(`${(gateway + billing).toFixed(3)} ms  ${name}`);
  }
}
