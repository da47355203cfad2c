import { readReviewKey } from './review-keys.ts';

const press = (key: string, part: Partial<Parameters<typeof readReviewKey>[0]> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...part,
});

const page = { areSingleOn: true, isOnRow: false };
const off = { areSingleOn: false, isOnRow: false };

describe('the keys of a review', () => {
  it('act alone', () => {
    expect(readReviewKey(press('j'), page)).toBe('next row');
    expect(readReviewKey(press('2'), page)).toBe('second side');
    expect(readReviewKey(press('q'), page)).toBeUndefined();
  });

  it('leave combinations to the browser, but for the one that finishes', () => {
    expect(readReviewKey(press('r', { ctrlKey: true }), page)).toBeUndefined();
    expect(readReviewKey(press('c', { metaKey: true }), page)).toBeUndefined();
    expect(readReviewKey(press('y', { altKey: true }), page)).toBeUndefined();
    expect(readReviewKey(press('Enter', { metaKey: true }), page)).toBe('finish');
    expect(readReviewKey(press('Enter'), page)).toBeUndefined();
  });

  it('can be switched off, but for the one with Ctrl', () => {
    expect(readReviewKey(press('y'), off)).toBeUndefined();
    expect(readReviewKey(press('Enter', { ctrlKey: true }), off)).toBe('finish');
  });

  it('move from the row that has the focus, and open it, even when single keys are off', () => {
    const row = { areSingleOn: false, isOnRow: true };
    expect(readReviewKey(press('ArrowDown'), row)).toBe('next row');
    expect(readReviewKey(press('Enter'), row)).toBe('open');
    expect(readReviewKey(press('ArrowDown'), page)).toBeUndefined();
  });
});
