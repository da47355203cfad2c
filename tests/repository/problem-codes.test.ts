// docs/errors.md lists every code of a problem, with the meaning that the code itself has, and an
// example that has it.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorKinds } from '@almanac/service-kit/errors';
import { problemCodes } from '@almanac/service-kit/problems';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');
const table = page.slice(page.indexOf('| code | means | status | example |'));
const rows = [...table.matchAll(/^\| `(\w+)` \| (.+?) \| (.+?) \| (.+) \|$/gm)]
  .slice(0, Object.keys(problemCodes).length)
  .map(([, code, means, status, example]) => ({ code, means, status, example }));

const sources = globSync('{packages/service-kit,services/*}/src/**/*.ts', { cwd: root })
  .filter((file) => !/\.test\.ts$|service-kit\/src\/problems\.ts$/.test(file))
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n');

/** The arguments of each call of a method, by its parentheses. */
function argumentsOf(method: string): string[] {
  return sources
    .split(`.${method}(`)
    .slice(1)
    .map((text) => {
      let open = 1;
      const end = [...text].findIndex((character) => {
        if (character === '(') open += 1;
        if (character === ')') open -= 1;
        return open === 0;
      });
      return text.slice(0, end);
    });
}

describe('the codes of problems', () => {
  it('are listed in docs/errors.md, each with its meaning', () => {
    expect(rows.map(({ code, means }) => [code, means])).toEqual(Object.entries(problemCodes));
  });

  it.each(rows)('$code has the statuses of kinds and an example', ({ code, status = '', example = '' }) => {
    const known = new Set<number>([...Object.values(errorKinds).map((kind) => kind.status), 408]);
    if (status !== 'any') for (const each of status.split(', ')) expect(known).toContain(Number(each));
    const shown = JSON.parse(/^`(\{.*?\})`/.exec(example)?.[1] ?? '{}') as { code: unknown; message: unknown };
    expect(shown).toMatchObject({ code, message: expect.any(String) });
  });

  it('are all in use', () => {
    const elsewhere = ['internal', 'more_problems'];
    const unused = Object.keys(problemCodes).filter((code) => !sources.includes(`'${code}'`));
    expect(unused.filter((code) => !elsewhere.includes(code))).toEqual([]);
  });

  // The types hold everything else to a code; zod takes any text.
  it('are given with each rule that zod does not know', () => {
    const refinements = argumentsOf('refine');
    expect(refinements.length).toBeGreaterThan(10);
    expect(refinements.filter((text) => !/\b(rule|atMost)\(/.test(text))).toEqual([]);
  });
});
