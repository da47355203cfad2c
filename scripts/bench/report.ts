// Prints comparisons with the bare server.
import type { Comparison, Measured } from './compare.ts';

const sides = { gateway: 'through the gateway', service: 'at the data service', bare: 'bare server' } as const;

const row = (cells: string[]) =>
  cells.map((cell, place) => (place === 0 ? cell.padEnd(21) : cell.padStart(10))).join('');

/**
 * Prints the medians of an operation, the ratios to the bare server, and the CPU of each process.
 */
export function printComparison({ name, measured, ratios }: Comparison, say: (text: string) => void): void {
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

/** Prints the CPU of the gateway and of billing for each call. */
export function printGateway(comparisons: Comparison[], say: (text: string) => void): void {
  say('\nCPU that the gateway adds to a call (itself, and billing)');
  for (const { name, measured } of comparisons) {
    const { gateway = 0, billing = 0 } = measured.gateway.cpuOf;
    say(`${(gateway + billing).toFixed(3)} ms  ${name}`);
  }
}
