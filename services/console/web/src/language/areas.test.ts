// A text whose area is not loaded would be shown as its number. What a module shows is found by its
// imports.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Area, areas, placesWithin } from './areas.ts';

type Module = { hasTexts: boolean; imports: string[]; lazy: { path: string; areas: string[] }[] };

const source = join(import.meta.dirname, '..');
const modules = new Map(
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('.test.'))
    .map((path) => [path, readModule(path)]),
);
const withShell = reachedFrom(['main.tsx']);

describe('the areas of texts', () => {
  it('have all files with texts', () => {
    expect(withShell.length).toBeGreaterThan(50);
    expect(filesWithTexts([...modules.keys()]).filter((path) => areaOf(path) === undefined)).toEqual([]);
  });

  it('have all texts that the first page needs in one', () => {
    expect(filesWithTexts(withShell).filter((path) => areaOf(path) !== 'shell')).toEqual([]);
  });

  it('are named wherever a module is loaded later', () => {
    const lazy = [...modules].flatMap(([from, module]) => module.lazy.map((each) => ({ from, ...each })));
    expect(lazy.length).toBeGreaterThan(30);
    const missing = lazy.flatMap(({ from, path, areas: named }) => {
      // The texts of the importing file are loaded, if it has any.
      const loaded = ['shell', ...named, ...(modules.get(from)?.hasTexts ? [areaOf(from)] : [])];
      return filesWithTexts(reachedFrom([path]))
        .map(areaOf)
        .filter((area) => !loaded.includes(area))
        .map((area) => `${from} loads ${path}, which shows texts of ${area}`);
    });
    expect([...new Set(missing)]).toEqual([]);
  });
});

function areaOf(path: string): Area | undefined {
  const has = (place: string) => path === place || path.startsWith(`${place}/`);
  return (Object.keys(areas) as Area[]).find((area) => areas[area].some(has) && !placesWithin(area).some(has));
}

const filesWithTexts = (paths: string[]) => paths.filter((path) => modules.get(path)?.hasTexts);

/** All modules that are loaded with these. */
function reachedFrom(paths: string[]): string[] {
  const reached = new Set(paths);
  for (const path of reached) for (const imported of modules.get(path)?.imports ?? []) reached.add(imported);
  return [...reached];
}

function readModule(path: string): Module {
  const text = readFileSync(join(source, path), 'utf8');
  const resolve = (relative: string) => normalize(join(dirname(path), relative));
  const imports = [...text.matchAll(/^(?:import|export)\s(?!type\s)[^;]*?from '(\.[^']+)';/gm)];
  const named = new Map(
    [...text.matchAll(/withTexts\(\s*\[([^\]]*)\],\s*import\('(\.[^']+)'\)/g)].map(([, list, loaded]) => [
      loaded as string,
      (list as string).match(/\w+/g) ?? [],
    ]),
  );
  const lazy = [...text.matchAll(/(?<!typeof )import\('(\.[^']+\.tsx?)'\)/g)].map(([, loaded]) => loaded as string);
  return {
    hasTexts: /from '@lingui\/\w+\/macro'/.test(text),
    imports: imports.map(([, imported]) => resolve(imported as string)),
    lazy: lazy.map((loaded) => ({ path: resolve(loaded), areas: named.get(loaded) ?? [] })),
  };
}
