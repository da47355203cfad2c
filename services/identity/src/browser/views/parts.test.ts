import { day, field, waitInWords } from './parts.ts';

it('says how long to wait in words', () => {
  expect([1, 2, 89, 90, 121, 3_600].map(waitInWords)).toEqual([
    '1 second',
    '2 seconds',
    '89 seconds',
    '2 minutes',
    '3 minutes',
    '60 minutes',
  ]);
});

it('writes days by UTC', () => {
  expect(day(new Date('2026-01-31T23:59:59.999Z')).text).toBe(
    '<time datetime="2026-01-31T23:59:59.999Z">31 January 2026</time>',
  );
});

it('ties a field to its hint and to the problem it is to blame for, in the order of reading', () => {
  const options = { name: 'a', label: 'A', type: 'text', autocomplete: 'off' } as const;
  expect(field(options).text).not.toContain('aria-');
  expect(field({ ...options, hint: 'H' }).text).toContain('aria-describedby="a-hint"');
  expect(field({ ...options, hint: 'H', isBad: true }).text).toContain('aria-describedby="problem a-hint"');
});
