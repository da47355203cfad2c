import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { operations } from '@almanac/testkit/rights/operations';
import { kinds, type RuleName, rowOf, rules } from '@almanac/testkit/rights/rules';
import { makeDocument } from '../openapi/declared-routes.ts';
import { asPage, operationsOf } from './page.ts';

const document = makeDocument();

it('the rights table has every operation of the API, and no other', () => {
  const declared = operationsOf(document).map(({ name }) => name);
  expect(Object.keys(operations).toSorted()).toEqual(declared.toSorted());
});

it('the rights table has a cell for each kind of person in each of its rules, and uses all of them', () => {
  const used = new Set(Object.values(operations).flatMap((cases) => cases.map(({ rule }) => rule)));
  expect(Object.keys(rules).filter((rule) => !used.has(rule as RuleName))).toEqual([]);
  for (const rule of Object.keys(rules) as RuleName[]) {
    expect([rule, rowOf(rule)?.length]).toEqual([rule, kinds.length]);
    expect(rowOf(rule).join('')).toMatch(/^[-ypc]+$/);
  }
});

it('an operation takes a person exactly where its declaration says so', () => {
  const machine = kinds.findIndex((kind) => 'machine' in kind);
  const persons = Object.entries(operations).filter(([, cases]) =>
    cases.some(({ rule }) => rowOf(rule)[machine] === 'p'),
  );
  const declared = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation['x-user-context'] === true)
      .map(([method]) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
  );
  expect(persons.map(([name]) => name).toSorted()).toEqual(declared.toSorted());
});

it('docs/permissions.md is what the rights table says (else: npm run permissions)', () => {
  expect(readFileSync(resolve(import.meta.dirname, '../../../docs/permissions.md'), 'utf8')).toBe(asPage(document));
});
