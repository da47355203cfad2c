import { isMassDeletion, isTypedNumber } from './mass-deletion.ts';

describe('a mass deletion', () => {
  it('is one of more than half of the rows', () => {
    expect(isMassDeletion({ deleted: 501, live: 1_000, isAllowed: false })).toBe(true);
    expect(isMassDeletion({ deleted: 500, live: 1_000, isAllowed: true })).toBe(false);
    expect(isMassDeletion({ deleted: 0, live: 0, isAllowed: true })).toBe(false);
  });

  it('is assumed where it is allowed and the number of rows is not known', () => {
    expect(isMassDeletion({ deleted: 3, live: undefined, isAllowed: true })).toBe(true);
    expect(isMassDeletion({ deleted: 3, live: undefined, isAllowed: false })).toBe(false);
  });

  it('takes the number of rows, as people write it', () => {
    for (const typed of ['1592', ' 1,592', '1.592', '1 592', '1’592']) expect(isTypedNumber(typed, 1_592)).toBe(true);
    for (const typed of ['', '159', '15920', 'all']) expect(isTypedNumber(typed, 1_592)).toBe(false);
  });
});
