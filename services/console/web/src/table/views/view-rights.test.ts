import { rightsTo } from './view-rights.ts';

const [owner, steward, developer] = [
  { userId: 1, isDeveloper: false },
  { userId: 2, isDeveloper: false },
  { userId: 3, isDeveloper: true },
];
const view = (sharing: 'private' | 'shared' | 'locked') => ({ owner_id: owner.userId, sharing });

it.each([
  ['its owner', 'private', owner, { mayChange: true, mayShare: true, mayBeDefault: false }],
  ['its owner', 'locked', owner, { mayChange: true, mayShare: true, mayBeDefault: false }],
  ['another user', 'shared', steward, { mayChange: false, mayShare: false, mayBeDefault: false }],
  ['a developer of the table', 'shared', developer, { mayChange: true, mayShare: false, mayBeDefault: true }],
  ['a developer of the table', 'locked', developer, { mayChange: false, mayShare: false, mayBeDefault: true }],
] as const)('%s of a %s view', (_, sharing, person, rights) => {
  expect(rightsTo(view(sharing), person)).toEqual(rights);
});
