import { codesOfKinds, errorKinds, notFound, ServiceError, validationFailed } from './errors.ts';
import type { Problem } from './problems.ts';

const problem = (n: number): Problem => ({ code: 'blank', message: `Line ${n} can't be blank`, operation: n });
const many = (count: number) => Array.from({ length: count }, (_, n) => problem(n));

describe('an error', () => {
  it('has a sentence for each problem, in the same order', () => {
    const { errors, body, message, status } = validationFailed(many(3));
    expect(errors).toEqual(many(3).map((each) => each.message));
    expect(body).toEqual({ error: 'Validation failed', errors, problems: many(3) });
    expect([message, status]).toEqual([errors.join(' '), 422]);
  });

  it('stands for the problems beyond a hundred with one of its own', () => {
    const { errors, problems } = validationFailed(many(150));
    expect([errors.length, problems.length]).toEqual([101, 101]);
    expect(problems[99]).toEqual(problem(99));
    expect(problems[100]).toEqual({
      code: 'more_problems',
      message: '50 more problems are not listed',
      params: { count: 50 },
    });
    expect(validationFailed(many(101)).problems).toEqual(many(101));
  });

  it('of a fault has the kind as its code', () => {
    expect(new ServiceError('unavailable', 'Try again.').body).toEqual({
      error: 'Service unavailable',
      errors: ['Try again.'],
      problems: [{ code: 'unavailable', message: 'Try again.' }],
    });
  });

  it('of another kind takes no sentence without a code', () => {
    // @ts-expect-error: a refusal names the code of each problem.
    const refusal = () => new ServiceError('validation_failed', 'It is wrong.');
    expect(refusal).toBeInstanceOf(Function);
  });

  it('for an unknown id and for one of another account is the same', () => {
    expect(JSON.stringify(notFound('Domain').body)).toBe(JSON.stringify(notFound('Domain').body));
    expect(notFound('Domain').problems).toEqual([{ code: 'not_found', message: 'Domain not found' }]);
  });

  it('has a code for each kind, for neighbours that send none', () => {
    expect(Object.keys(codesOfKinds)).toEqual(Object.keys(errorKinds));
  });
});
