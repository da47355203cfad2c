import { storyOf } from './story-order.ts';

const action = (name: string, at: string) => ({ action: name, user: 1, comment: null, at, request_id: null });
const comment = (id: number, at: string, operation_id: number | null = null) => ({
  ...{ id, operation_id, user_id: 1, application_id: null, body: 'x', at },
});

it('the story of a request has its steps and the comments on the whole, oldest first', () => {
  const actions = [action('create', '2026-11-01T10:00:00Z'), action('send_request', '2026-11-01T12:00:00Z')];
  const comments = [comment(7, '2026-11-01T11:00:00Z'), comment(8, '2026-11-01T11:30:00Z', 81)];
  const names = storyOf(actions, comments).map((entry) => ('body' in entry ? entry.id : entry.action));
  expect(names).toEqual(['create', 7, 'send_request']);
});
