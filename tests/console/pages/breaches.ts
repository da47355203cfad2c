// What axe finds on a page that breaks WCAG.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

type Axe = { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };

/** The breaches, each with its rule and the beginning of its element. */
export async function findBreaches(page: Page): Promise<string[]> {
  // The policies of the console refuse a script that a page is given, but not what a tool runs.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
