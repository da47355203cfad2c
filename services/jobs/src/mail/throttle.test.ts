import { mailsPerHour, planHours } from './throttle.ts';

const nothing = { now: 100, ofAccount: new Map<number, number>(), ofTemplateToUser: new Map<string, number>() };
const users = (count: number, from = 1) => Array.from({ length: count }, (_, at) => from + at);
const counted = (hours: number[]) =>
  Object.fromEntries([...Map.groupBy(hours, (hour) => hour)].map(([hour, all]) => [hour, all.length]));

describe('planHours', () => {
  it('sends at once while there is capacity', () => {
    expect(counted(planHours(nothing, users(mailsPerHour.ofAccount)))).toEqual({ 100: mailsPerHour.ofAccount });
  });

  it('fills the hours that have capacity, in order', () => {
    const taken = {
      ...nothing,
      ofAccount: new Map([
        [100, 498],
        [101, 500],
        [102, 499],
      ]),
    };
    expect(planHours(taken, users(5))).toEqual([100, 100, 102, 103, 103]);
  });

  it('delays the mails of one kind to a user beyond their limit, and no others', () => {
    const taken = {
      ...nothing,
      ofTemplateToUser: new Map([
        ['100 7', mailsPerHour.ofTemplateToUser],
        ['101 7', mailsPerHour.ofTemplateToUser - 1],
      ]),
    };
    expect(planHours(taken, [7, 7, 8])).toEqual([101, 102, 100]);
  });

  it('shares the last hour of a month when no capacity is left', () => {
    const full = new Map(users(800, 100).map((hour) => [hour, 500]));
    expect(planHours({ ...nothing, ofAccount: full }, [1, 2])).toEqual([820, 820]);
  });
});
