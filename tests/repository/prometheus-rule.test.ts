import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

const folder = resolve(import.meta.dirname, '../../deploy/observability');
const read = (name: string) => parse(readFileSync(join(folder, name), 'utf8'));

it('has the alert rules of prometheus-rules.yml (npm run prometheus-rule)', () => {
  const rule = read('prometheus-rule.yaml');
  expect(rule.spec).toEqual(read('prometheus-rules.yml'));
  expect(rule.spec.groups[0].rules.length).toBeGreaterThan(10);
});
