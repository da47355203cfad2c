// The steps of a request and the comments on it as a whole, oldest first. Pure.
import type { ChangeRequest, Comment } from '../queries.ts';

type Action = ChangeRequest['actions'][number];

export function storyOf(actions: readonly Action[], comments: readonly Comment[]): (Action | Comment)[] {
  const whole = comments.filter(({ operation_id }) => operation_id === null);
  return [...actions, ...whole].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
