import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findFreePort } from '../src/network/ports.ts';

// Enough of 10,000 ports that without reservations some would be equal, within one process and
// between two.
const many = 400;

it('no port is given twice, not even by two processes', async () => {
  const here = await Promise.all(Array.from({ length: many }, findFreePort));
  const script = `
    const { findFreePort } = await import(${JSON.stringify(new URL('../src/network/ports.ts', import.meta.url).href)});
    console.log(JSON.stringify(await Promise.all(Array.from({ length: ${many} }, findFreePort))));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const ports = [...here, ...(JSON.parse(stdout) as number[])];
  expect(ports).toHaveLength(2 * many);
  expect(new Set(ports).size).toBe(2 * many);
});
