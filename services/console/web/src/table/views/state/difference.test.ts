import { differenceTo, isDifferent, noDifference, shownMembers } from './difference.ts';

const saved = { q: 'land', filter: '{"name":{"type":"contains","filter":"a"},"code":{"type":"blank"}}', sort: 'name' };

describe('the difference to a saved view', () => {
  it('is nothing for the view itself, however its filters are ordered', () => {
    const filter = '{"code":{"type":"blank"},"name":{"filter":"a","type":"contains"}}';
    expect(differenceTo(saved, { ...saved, filter })).toEqual(noDifference);
    expect(isDifferent({ view: 3, row: 7, ...noDifference })).toBe(false);
  });

  it('names what is left out of the view, and has what is added to it', () => {
    const shown = { q: undefined, filter: saved.filter, sort: '-name', columns: 'code,name:hidden' };
    const difference = differenceTo(saved, shown);
    expect(difference).toEqual({ ...noDifference, sort: '-name', columns: 'code,name:hidden', without: 'q' });
    expect(isDifferent(difference)).toBe(true);
    expect(shownMembers(saved, difference)).toEqual(shown);
  });

  it('is all of it without a saved view', () => {
    expect(differenceTo({}, saved)).toEqual({ ...noDifference, ...saved });
    expect(shownMembers({}, saved)).toEqual({ ...saved, columns: undefined });
  });

  it('shows the view as it is when the address adds nothing', () => {
    expect(shownMembers(saved, { view: 3 })).toEqual({ ...saved, columns: undefined });
  });
});
