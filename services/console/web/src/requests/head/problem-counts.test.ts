import { countProblems } from './problem-counts.ts';

const problem = (code: string) => ({ code });

describe('the problems of a rehearsal', () => {
  it('are conflicts with others, or broken rules', () => {
    const problems = [problem('version_conflict'), problem('not_found'), problem('taken')];
    expect(countProblems({ problems, problem_count: 3 })).toEqual({ conflicts: 2, others: 1 });
    expect(countProblems({ problems: [], problem_count: 0 })).toEqual({ conflicts: 0, others: 0 });
  });

  it('have no kinds when only the first ones are known', () => {
    expect(countProblems({ problems: [problem('taken')], problem_count: 340 })).toBeUndefined();
  });
});
