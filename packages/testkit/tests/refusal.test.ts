import { refusal, refusalFault } from '../src/calls/refusal.ts';

const body = refusal('Validation failed', 'blank', "Name can't be blank", { field: 'name' });

describe('the body of a refusal', () => {
  it('is one with its problems', () => {
    expect(refusalFault(body)).toBeUndefined();
    expect(refusalFault({ ...body, diffs: [] })).toBeUndefined();
  });

  it.each([
    ['without problems', { error: body.error, errors: body.errors }],
    ['with too few problems', { ...body, errors: [...body.errors, 'Another.'] }],
    ['with problems in another order', { ...body, errors: ['Another.'] }],
    ['with an unknown code', { ...body, problems: [{ ...body.problems[0], code: 'teapot' }] }],
    ['with an unknown member', { ...body, problems: [{ ...body.problems[0], place: 1 }] }],
    ['without sentences', { ...body, errors: [], problems: [] }],
    ['that is none', 'no'],
  ])('%s is none', (_case, other) => {
    expect(refusalFault(other)).toEqual(expect.any(String));
  });
});
