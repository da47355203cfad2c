import { deletionOrder } from './account-rows.ts';

describe('the order in which rows are deleted', () => {
  it('begins with the rows that refer to others, whatever the order of the tables', () => {
    const references = [
      { child: 'column', parent: 'table' },
      { child: 'table', parent: 'branch' },
      { child: 'branch', parent: 'branch' },
      { child: 'elsewhere', parent: 'branch' },
    ];
    for (const tables of [
      ['branch', 'table', 'column'],
      ['column', 'branch', 'table'],
    ])
      expect(deletionOrder(tables, references)).toEqual(['column', 'table', 'branch']);
  });

  it('does not exist when tables refer to each other', () => {
    const references = [
      { child: 'a', parent: 'b' },
      { child: 'b', parent: 'a' },
    ];
    expect(() => deletionOrder(['a', 'b', 'c'], references)).toThrow(
      'The tables a, b refer to each other in a circle.',
    );
  });
});
