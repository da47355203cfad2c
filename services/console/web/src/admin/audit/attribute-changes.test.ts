import { attributeChanges } from './attribute-changes.ts';

describe('the changes of attributes', () => {
  it('are those that differ', () => {
    expect(attributeChanges({ name: 'Old', plan: 'free' }, { name: 'New', plan: 'free' })).toEqual([
      { name: 'name', before: 'Old', after: 'New' },
    ]);
  });

  it('are all of something new or deleted', () => {
    expect(attributeChanges(null, { name: 'New', active: true })).toEqual([
      { name: 'active', after: 'true' },
      { name: 'name', after: 'New' },
    ]);
    expect(attributeChanges({ id: 3 }, null)).toEqual([{ name: 'id', before: '3' }]);
  });

  it('show no value as a sign, and lists as JSON', () => {
    expect(attributeChanges({ member_ids: [1], note: 'x' }, { member_ids: [1, 2], note: null })).toEqual([
      { name: 'member_ids', before: '[1]', after: '[1,2]' },
      { name: 'note', before: 'x', after: '∅' },
    ]);
  });
});
