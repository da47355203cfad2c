import { explainError } from './explain-error.ts';

describe('an error is explained', () => {
  it('by its problems, with the id of the request', () => {
    const refusal = {
      status: 422,
      error: 'Invalid',
      errors: ['Old words'],
      problems: [{ message: 'code is too long' }],
    };
    expect(explainError({ ...refusal, requestId: 'r-1' })).toEqual({
      status: 422,
      lines: ['code is too long'],
      requestId: 'r-1',
    });
  });

  it('by its lines, else by its label, where a release sends no problems', () => {
    expect(explainError({ status: 404, error: 'Not found', errors: ['No table'], problems: [] }).lines).toEqual([
      'No table',
    ]);
    expect(explainError({ status: 404, error: 'Not found', errors: [], problems: [] }).lines).toEqual(['Not found']);
  });

  it('by its own message when there was no answer', () => {
    expect(explainError(new TypeError('Failed to fetch'))).toEqual({
      status: undefined,
      lines: ['Failed to fetch'],
      requestId: undefined,
    });
  });
});
