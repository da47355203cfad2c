import { continued } from './series.ts';

describe('values go on', () => {
  it.each<[string, unknown[], unknown[]]>([
    ['one is repeated', [5], [5, 5, 5]],
    ['numbers in equal steps count on', [1, 2], [3, 4, 5]],
    ['downwards, too', [10, 5], [0, -5, -10]],
    ['numbers in other steps are repeated', [1, 2, 4], [1, 2, 4]],
    ['equal ones are repeated', [7, 7], [7, 7, 7]],
    [
      'bigints keep all digits',
      ['9007199254740992', '9007199254740993'],
      ['9007199254740994', '9007199254740995', '9007199254740996'],
    ],
    ['decimals keep their digits behind the point', ['0.90', '1.00'], ['1.10', '1.20', '1.30']],
    ['negative decimals', ['0.5', '0.0'], ['-0.5', '-1.0', '-1.5']],
    ['codes keep their zeros', ['007', '008'], ['009', '010', '011']],
    ['days', ['2026-02-27', '2026-02-28'], ['2026-03-01', '2026-03-02', '2026-03-03']],
    ['weeks', ['2026-01-01', '2026-01-08'], ['2026-01-15', '2026-01-22', '2026-01-29']],
    ['texts with a number at their end', ['C08', 'C09'], ['C10', 'C11', 'C12']],
    ['texts without zeros', ['Line 9', 'Line 10'], ['Line 11', 'Line 12', 'Line 13']],
    ['different texts are repeated', ['a', 'b'], ['a', 'b', 'a']],
    ['texts of different beginnings are repeated', ['A1', 'B2'], ['A1', 'B2', 'A1']],
    ['no values among others are repeated', [1, null], [1, null, 1]],
    ['booleans are repeated', [true, false], [true, false, true]],
    ['a day that does not exist is a text', ['2026-13-01', '2026-13-02'], ['2026-13-03', '2026-13-04', '2026-13-05']],
  ])('%s', (_, values, expected) => expect(continued(values, 3)).toEqual(expected));
});
