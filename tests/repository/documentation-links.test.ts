// A reader finds every page: the README links each how-to page once, links lead somewhere, and
// examples share the variables of one page.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { blocksOf } from '../../scripts/documentation/shell-commands.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const howTos = globSync('docs/how-to/*.md', { cwd: root }).toSorted();

/** The links of a page to files here, as paths from the root, with the heading if one is named. */
const linksOf = (page: string) =>
  [...read(page).matchAll(/\]\(([^):\s]*)\)/g)].map(([, link = '']) => {
    const [path = '', heading] = link.split('#');
    return { path: path === '' ? page : relative(root, resolve(root, dirname(page), path)), heading };
  });

// As GitHub names the headings of a page.
const headingsOf = (page: string) =>
  [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );

describe('the README', () => {
  it.each(howTos)('links %s once', (page) => {
    expect(linksOf('README.md').filter(({ path }) => path === page)).toHaveLength(1);
  });

  it('links the concepts before the first command', () => {
    const text = read('README.md');
    const place = text.indexOf('(docs/concepts.md)');
    expect(place).toBeGreaterThan(0);
    expect(place).toBeLessThan(text.indexOf('npm ci'));
  });
});

const pages = globSync(['*.md', 'docs/*.md', 'docs/{adr,how-to,states}/*.md', '{packages,services}/*/README.md'], {
  cwd: root,
}).toSorted();

describe('links', () => {
  it.each(pages)('of %s lead to files and headings', (page) => {
    const broken = linksOf(page).filter(
      ({ path, heading }) =>
        !existsSync(join(root, path)) || (heading !== undefined && !headingsOf(path).includes(heading)),
    );
    expect(broken).toEqual([]);
  });
});

describe('source files', () => {
  const sources = globSync('{deploy,packages,scripts,services,tests}/**/*.{ts,tsx}', {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist|generated)(\/|$)/.test(path),
  }).map((path) => `/${path}`);
  const removed = new Set(['docs/adr/0025-removed-mechanisms.md']);

  it('are many', () => expect(sources.length).toBeGreaterThan(1_000));

  it.each(pages.filter((page) => !removed.has(page)))('that %s names are there', (page) => {
    const prose = read(page).replace(/^```.*?^```/gms, '');
    const names = [...prose.matchAll(/`(\w[\w./-]*\.tsx?)`/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !sources.some((path) => path.endsWith(`/${name}`)))).toEqual([]);
  });
});

describe('examples of docs/how-to', () => {
  const variablesPage = 'docs/how-to/get-a-token.md';

  it('have variables and functions that one page explains', () => {
    const [variables = ''] = blocksOf(read(variablesPage));
    for (const name of ['URL=', 'API=', 'api() ', 'pick() ', 'finished() '])
      expect(variables).toMatch(new RegExp(`^${name.replace('()', '\\(\\)')}`, 'm'));
  });

  it.each(howTos.filter((page) => page !== variablesPage))('of %s use them, and have no others', (page) => {
    const text = blocksOf(read(page)).join('\n');
    expect(text).not.toMatch(/\/api\/v1\/|^ *(?:URL|API|api|auth|BASE)=|\b(?:api|pick|finished)\(\)/m);
    if (/\$API\b/.test(text))
      expect(linksOf(page)).toContainEqual({ path: variablesPage, heading: 'variables-in-examples' });
  });
});
