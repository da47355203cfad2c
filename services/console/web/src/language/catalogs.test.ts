import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Texts = Map<string, string>;

const english = readCatalog('en');
const german = readCatalog('de');

describe('the texts of the console', () => {
  it('are the same in all languages', () => {
    expect(english.size).toBeGreaterThan(100);
    expect([...german.keys()]).toEqual([...english.keys()]);
  });

  it('are all in German', () => {
    expect([...german].filter(([, translated]) => translated === '').map(([text]) => text)).toEqual([]);
  });

  it('have the same places for values', () => {
    // The texts of a plural stand in braces too.
    const bare = (text: string) => text.replace(/(?:one|other|=\d+) \{/g, '');
    const places = (text: string) => [...new Set(bare(text).match(/\{\w+|<\d+\/?>/g) ?? [])].toSorted();
    const unlike = [...german].filter(([text, translated]) => `${places(text)}` !== `${places(translated)}`);
    expect(unlike).toEqual([]);
  });
});

function readCatalog(language: string): Texts {
  const text = readFileSync(join(import.meta.dirname, `${language}.po`), 'utf8');
  const entries = [...text.matchAll(/^msgid "(.+)"\nmsgstr "(.*)"$/gm)];
  return new Map(entries.map(([, id = '', translated = '']) => [id, translated]));
}
