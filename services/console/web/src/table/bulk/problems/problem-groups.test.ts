import { findPresentCount, groupProblems, type Problem } from './problem-groups.ts';

const taken = (row: number, reason: string): Problem => ({
  code: 'taken',
  message: `Record ${row}: code must be unique: ${reason}`,
  column: 'code',
  row,
});

describe('problems of many rows', () => {
  it('are put together by rule, the most rows first, and those not listed are counted', () => {
    const referred = (row: number, count: number): Problem => ({
      code: 'still_referenced',
      message: `Record ${row}: it is still referred to by ${count} records of Cities`,
      row,
      params: { table: 'Cities', count },
    });
    const more: Problem = { code: 'more_problems', message: '40 more problems', params: { count: 40 } };
    const problems = [referred(3, 8), taken(1, 'it exists'), taken(2, 'record 1 gets it'), taken(4, 'it exists'), more];
    const { groups, unlisted } = groupProblems([...problems, referred(5, 2)]);
    expect(groups.map(({ code, column, table, rows }) => [code, column, table, rows])).toEqual([
      ['taken', 'code', undefined, [1, 2, 4]],
      ['still_referenced', undefined, 'Cities', [3, 5]],
    ]);
    expect(unlisted).toBe(40);
  });

  it('name a row once, though it breaks a rule in two ways', () => {
    expect(groupProblems([taken(1, 'it exists'), taken(1, 'record 2 gets it')]).groups[0]?.rows).toEqual([1]);
  });

  it('of the values themselves have no rows, and stay in their words', () => {
    const long: Problem = { code: 'too_long', message: 'name is too long', column: 'name' };
    const [group] = groupProblems([long]).groups;
    expect(group).toMatchObject({ message: 'name is too long', column: 'name', rows: [] });
  });

  it('say how many rows match by now', () => {
    const problem: Problem = { code: 'not_reviewed', message: '4 records match, not 3.', params: { count: 4 } };
    expect(findPresentCount([problem])).toBe(4);
    expect(findPresentCount([taken(1, 'it exists')])).toBeUndefined();
  });
});
