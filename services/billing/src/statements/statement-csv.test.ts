import { statementCsv } from './statement-csv.ts';

const statement = {
  month: '2026-03',
  plans: [{ since: new Date('2026-03-01T00:00:00Z'), plan: 'free', allowance: 1_000 }],
  usage: [
    { application_id: 0, method: 'GET', resource: 'domains', calls: 3 },
    { application_id: 7, method: 'POST', resource: 'table_data', calls: 1_010 },
  ],
  overage: [{ plan: 'free', calls: 13, price_per_1000: '2.0000', currency: 'USD', amount: '0.03' }],
  totals: [{ currency: 'USD', calls: 13, amount: '0.03' }],
  calls: 1_013,
};

describe('the CSV of a statement', () => {
  it('has one kind of entry a line, under one header', () => {
    expect(statementCsv(statement).split('\r\n')).toEqual([
      'month,line,since,plan,allowance,application_id,method,resource,calls,price_per_1000,currency,amount',
      '2026-03,plan,2026-03-01T00:00:00.000Z,free,1000,,,,,,,',
      '2026-03,usage,,,,,GET,domains,3,,,',
      '2026-03,usage,,,,7,POST,table_data,1010,,,',
      '2026-03,overage,,free,,,,,13,2.0000,USD,0.03',
      '2026-03,total_calls,,,,,,,1013,,,',
      '2026-03,total_overage,,,,,,,13,,USD,0.03',
      '',
    ]);
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ["'x", "''x"],
    ['\tx', "'\tx"],
    ['＝x', "'＝x"],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['a\r\nb', '"a\r\nb"'],
  ])('keeps %j from being a formula or another line', (resource, cell) => {
    const usage = [{ application_id: 7, method: 'GET', resource, calls: 1 }];
    expect(statementCsv({ ...statement, usage })).toContain(`2026-03,usage,,,,7,GET,${cell},1,,,\r\n`);
  });
});
