import { ServiceError, validationFailed } from '../errors.ts';
import type { Problem } from '../problems.ts';
import { readErrorTrailer, writeErrorTrailer } from './error-trailer.ts';

const cause = new Error('of gRPC');
const sent = (error: ServiceError) => readErrorTrailer(writeErrorTrailer(error), cause) as ServiceError;
const problems: Problem[] = [
  { code: 'too_long', message: 'a is too long', column: 'a', row: 7, operation: 0, params: { maximum: 3 } },
  { code: 'blank', message: "B can't be blank", field: 'b' },
];

describe('the trailer of an error', () => {
  it('carries kind, label and every part of each problem', () => {
    const error = sent(new ServiceError('already_exists', problems, { label: 'Own label' }));
    expect(error).toMatchObject({ kind: 'already_exists', label: 'Own label', cause });
    expect(error.problems).toEqual(problems);
  });

  it('gives the last release its sentences in the place where it looks for them', () => {
    const { kind, label, errors } = JSON.parse(writeErrorTrailer(validationFailed(problems)).toString());
    expect([kind, label, errors]).toEqual([
      'validation_failed',
      'Validation failed',
      ['a is too long', "B can't be blank"],
    ]);
  });

  it.each([
    ['not_found', 'not_found'],
    ['wrong_state', 'wrong_state'],
    ['forbidden', 'missing_right'],
    ['validation_failed', 'invalid'],
    ['unavailable', 'unavailable'],
  ])('of the last release, which has no codes, gives %s the code %s', (kind, code) => {
    const trailer = Buffer.from(JSON.stringify({ kind, label: 'Label', errors: ['One.', 'Two.'] }));
    expect(readErrorTrailer(trailer, cause)?.problems).toEqual([
      { code, message: 'One.' },
      { code, message: 'Two.' },
    ]);
  });

  it('of the next release, with a code that is unknown here, has that of its kind', () => {
    const trailer = { kind: 'wrong_state', label: 'L', errors: ['One.'], problems: [{ code: 'later', row: 3 }] };
    expect(readErrorTrailer(Buffer.from(JSON.stringify(trailer)), cause)?.problems).toEqual([
      { code: 'wrong_state', message: 'One.', row: 3 },
    ]);
  });

  it('of an unknown kind is none', () => {
    expect(readErrorTrailer(Buffer.from('{"kind":"teapot","label":"L","errors":["One."]}'), cause)).toBeUndefined();
  });

  it('fits into the metadata: long lists are cut and counted, large places left out', () => {
    const long = Array.from(
      { length: 150 },
      (_, n): Problem => ({
        code: 'not_in_list',
        message: `${n} ${'x'.repeat(90)}`,
        params: { allowed: ['y'.repeat(3_000)] },
      }),
    );
    const error = validationFailed(long);
    expect(writeErrorTrailer(error).length).toBeLessThan(40_000);
    const { errors, problems: kept } = sent(error);
    expect(kept.length).toBe(errors.length);
    expect(kept[0]).toEqual(long[0]);
    expect(kept[10]).toEqual({ code: 'not_in_list', message: long[10]?.message });
    const last = kept.at(-1);
    expect(last).toMatchObject({ code: 'more_problems', params: { count: 150 - (kept.length - 1) } });
  });

  it('never carries a record', () => {
    const conflict: Problem = { code: 'version_conflict', message: 'Changed.', row: 1, current: { svc_sk: 1 } };
    expect(sent(new ServiceError('precondition_failed', conflict)).problems).toEqual([
      { code: 'version_conflict', message: 'Changed.', row: 1 },
    ]);
  });
});
