import { comparePlaces, readPlace, writePlace } from './place.ts';

describe('a place of a right', () => {
  it('is written and read', () => {
    const place = { resource_type: 'table_definition', resource_id: 12 } as const;
    expect(writePlace(place)).toBe('table_definition:12');
    expect(readPlace('table_definition:12')).toEqual(place);
  });

  it.each(['', 'moon:1', 'domain', 'domain:0', 'domain:x', undefined])('is none in %s', (text) => {
    expect(readPlace(text)).toBeUndefined();
  });

  it('comes after wider ones', () => {
    const places = ['branch:1', 'domain:2', 'account:1', 'domain:1'].flatMap((text) => readPlace(text) ?? []);
    expect(places.toSorted(comparePlaces).map(writePlace)).toEqual(['account:1', 'domain:1', 'domain:2', 'branch:1']);
  });
});
