import { refusedRows } from './refused.ts';

describe('the rows of a refusal', () => {
  it('are those that its problems name', () => {
    const problems = [
      { code: 'version_conflict', message: 'area: changed', params: { operation_id: 81, table: 'shops' } },
      { code: 'cycle', message: 'Somewhere' },
    ];
    expect(refusedRows({ status: 422, problems })).toEqual([
      { message: 'area: changed', operationId: 81, tableKey: 'shops' },
      { message: 'Somewhere', operationId: undefined, tableKey: undefined },
    ]);
  });

  it('are none of a refusal of the request as a whole, and of other errors', () => {
    expect(refusedRows({ problems: [{ code: 'outdated', message: 'Rows have changed', params: {} }] })).toEqual([]);
    expect(refusedRows(new Error('No answer'))).toEqual([]);
    expect(refusedRows(undefined)).toEqual([]);
  });
});
