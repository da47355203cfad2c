import { type Counted, continued } from './series.ts';

describe('values go on', () => {
  it.each<[string, Counted, unknown[], unknown[]]>([
    ['one is repeated', 'numbers', [5], [5, 5, 5]],
    ['numbers in equal steps count on', 'numbers', [1, 2], [3, 4, 5]],
    ['downwards, too', 'numbers', [10, 5], [0, -5, -10]],
    ['numbers in other steps are repeated', 'numbers', [1, 2, 4], [1, 2, 4]],
    ['equal ones are repeated', 'numbers', [7, 7], [7, 7, 7]],
    [
      'bigints keep all digits',
      'numbers',
      ['9007199254740992', '9007199254740993'],
      ['9007199254740994', '9007199254740995', '9007199254740996'],
    ],
    ['decimals keep their digits behind the point', 'numbers', ['0.90', '1.00'], ['1.10', '1.20', '1.30']],
    ['decimals go below zero', 'numbers', ['0.5', '0.0'], ['-0.5', '-1.0', '-1.5']],
    ['days', 'days', ['2026-02-27', '2026-02-28'], ['2026-03-01', '2026-03-02', '2026-03-03']],
    ['weeks', 'days', ['2026-01-01', '2026-01-08'], ['2026-01-15', '2026-01-22', '2026-01-29']],
    ['months', 'days', ['2026-11-01', '2026-12-01'], ['2027-01-01', '2027-02-01', '2027-03-01']],
    ['quarters backwards', 'days', ['2026-07-15', '2026-04-15'], ['2026-01-15', '2025-10-15', '2025-07-15']],
    [
      'days that do not exist are repeated',
      'days',
      ['2026-13-01', '2026-13-02'],
      ['2026-13-01', '2026-13-02', '2026-13-01'],
    ],
    ['codes of digits keep their zeros', 'texts', ['007', '008'], ['009', '010', '011']],
    ['texts with a number at their end', 'texts', ['C08', 'C09'], ['C10', 'C11', 'C12']],
    ['upwards they get their zeros', 'texts', ['C10', 'C09'], ['C08', 'C07', 'C06']],
    ['texts without zeros', 'texts', ['Line 9', 'Line 10'], ['Line 11', 'Line 12', 'Line 13']],
    ['no text has a number below zero', 'texts', ['C01', 'C00'], ['C01', 'C00', 'C01']],
    ['different texts are repeated', 'texts', ['a', 'b'], ['a', 'b', 'a']],
    ['texts of different beginnings are repeated', 'texts', ['A1', 'B2'], ['A1', 'B2', 'A1']],
    ['no value among others is repeated', 'numbers', [1, null], [1, null, 1]],
    ['what does not count is repeated', undefined, ['1', '2'], ['1', '2', '1']],
  ])('%s', (_, counted, values, expected) => expect(continued(values, 3, counted)).toEqual(expected));
});
