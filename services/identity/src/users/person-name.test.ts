import { initialsOf } from './person-name.ts';

describe('initials', () => {
  it.each([
    ['Ada', 'Lovelace', 'AL'],
    ['ada', '', 'A'],
    ['', 'lovelace', 'L'],
    ['', '', ''],
    ['  ', ' king', 'K'],
    ['Deployment pipeline', '', 'D'],
    ['e\u0301lodie', 'ñuñez', 'E\u0301Ñ'],
    ['👩‍🚀 Ada', '張', '👩‍🚀張'],
  ])('of %j %j are %j', (first_name, last_name, expected) => {
    expect(initialsOf({ first_name, last_name })).toBe(expected);
  });
});
