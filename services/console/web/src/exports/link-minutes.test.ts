import { linkMinutes } from './link-minutes.ts';

it('a link works for an hour, with a minute for clocks that differ', () => {
  const made = Date.parse('2026-11-26T12:00:00Z');
  const after = (minutes: number) => linkMinutes(made, made + minutes * 60_000);
  expect([after(0), after(10), after(58.5), after(59), after(600)]).toEqual([59, 49, 0, 0, 0]);
});
