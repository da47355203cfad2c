import { OwnWrites } from './own-writes.ts';

const given = (...rows: (number | 'any')[]) => {
  const own = new OwnWrites();
  for (const each of rows) own.add(each, 0);
  return own;
};

describe('rows that an event counts', () => {
  it('are of others where nothing was written here', () => {
    expect(given().countOthers(3, 0)).toBe(3);
  });

  it('are counted without those written here, each once', () => {
    const own = given(2, 3);
    expect(own.countOthers(4, 1_000)).toBe(0);
    expect(own.countOthers(4, 2_000)).toBe(3);
    expect(own.countOthers(4, 3_000)).toBe(4);
  });

  it('are all of an undo here', () => {
    expect(given('any').countOthers(500, 1_000)).toBe(0);
  });

  it('are of others when what was written here is long past', () => {
    expect(given(2, 'any').countOthers(4, 20_000)).toBe(4);
  });
});
