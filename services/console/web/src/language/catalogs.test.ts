import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { areas } from './areas.ts';

type Texts = Map<string, string>;

describe.each(Object.keys(areas))('the texts of %s', (area) => {
  const english = readCatalog(area, 'en');
  const german = readCatalog(area, 'de');

  it('are the same in all languages', () => {
    expect(english.size).toBeGreaterThan(30);
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

function readCatalog(area: string, language: string): Texts {
  const text = readFileSync(join(import.meta.dirname, area, `${language}.po`), 'utf8');
  const entries = [...text.matchAll(/^msgid "(.+)"\nmsgstr "(.*)"$/gm)];
  return new Map(entries.map(([, id = '', translated = '']) => [id, translated]));
}
