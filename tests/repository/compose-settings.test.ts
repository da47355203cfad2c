import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const compose = read('deploy/compose.yaml');
const made = Object.fromEntries(
  execFileSync(process.execPath, [join(root, 'deploy/compose-env.js')], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')
    .map((line) => /^([A-Z0-9_]+)='([^']*)'$/.exec(line)?.slice(1) as [string, string]),
);

describe('deploy/compose.yaml', () => {
  it('gets every secret that it needs from deploy/compose-env.js', () => {
    const asked = [...compose.matchAll(/\$\{([A-Z0-9_]+)(?::\?[^}]*)?\}/g)].map((match) => match[1] as string);
    expect(new Set(asked).size).toBeGreaterThan(15);
    expect(asked.filter((name) => !made[name])).toEqual([]);
  });

  it('takes every variable that docs/how-to/install.md names, with the default that it names', () => {
    const table = read('docs/how-to/install.md').match(/^\| `[A-Z].*$/gm) ?? [];
    const documented = table.flatMap((row) =>
      [...(row.split('|')[1] as string).matchAll(/`([A-Z0-9_]+)`/g)].map((name) => name[1]),
    );
    expect(documented.length).toBeGreaterThan(10);
    expect(documented.filter((name) => !compose.includes(`\${${name}:-`))).toEqual([]);
  });

  it('gives the services settings that docs/how-to/configure.md has', () => {
    const page = read('docs/how-to/configure.md');
    const services = compose.slice(0, compose.indexOf('  operator:'));
    const given = [...services.matchAll(/^ {2,6}([A-Z]+_[A-Z_]+): /gm)].map((match) => match[1] as string);
    const general = /^(GATEWAY|IDENTITY|METADATA|DATA|JOBS|BILLING|CONSOLE)_(HOST|RPC|URL|DATABASE_URL|CONTEXT_KEY)$/;
    expect(given.length).toBeGreaterThan(25);
    expect(given.filter((name) => !general.test(name) && !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('has keys of all issuers, no two systems the same', () => {
    const { keys } = JSON.parse(made.ALMANAC_CONTEXT_KEYS as string);
    expect(keys.map(({ kid }: { kid: string }) => kid)).toEqual([
      'gateway',
      'identity',
      'metadata',
      'data',
      'jobs',
      'billing',
      'console',
      'operator',
    ]);
    expect(made.ALMANAC_CONTEXT_KEYS).not.toContain('"d":');
    expect(JSON.parse(made.DATA_CONTEXT_KEY as string)).toMatchObject({ kid: 'data', d: expect.any(String) });
    const again = execFileSync(process.execPath, [join(root, 'deploy/compose-env.js')], { encoding: 'utf8' });
    expect(again).not.toContain(made.IDENTITY_KEY_ENCRYPTION_KEY);
  });
});
