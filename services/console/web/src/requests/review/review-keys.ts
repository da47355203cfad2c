// The keys of a review. Letters and digits never act in a field or a dialog, and can be switched
// off. Arrows and Enter act on the row that has the focus.

export type ReviewKey =
  | 'next row'
  | 'previous row'
  | 'next undecided'
  | 'previous undecided'
  | 'accept'
  | 'reject'
  | 'return'
  | 'comment'
  | 'viewed'
  | 'first side'
  | 'second side'
  | 'third side'
  | 'open'
  | 'finish';

const single: Record<string, ReviewKey> = {
  j: 'next row',
  k: 'previous row',
  n: 'next undecided',
  p: 'previous undecided',
  y: 'accept',
  x: 'reject',
  r: 'return',
  c: 'comment',
  v: 'viewed',
  1: 'first side',
  2: 'second side',
  3: 'third side',
};

const onRow: Record<string, ReviewKey> = { ArrowDown: 'next row', ArrowUp: 'previous row', Enter: 'open' };

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** The act of a key, pressed outside of fields and dialogs; undefined when it has none here. */
export function readReviewKey(
  { key, ctrlKey, metaKey, altKey, shiftKey }: Pressed,
  { areSingleOn, isOnRow }: { areSingleOn: boolean; isOnRow: boolean },
): ReviewKey | undefined {
  if (altKey || shiftKey) return undefined;
  if (ctrlKey || metaKey) return key === 'Enter' ? 'finish' : undefined;
  return (isOnRow ? onRow[key] : undefined) ?? (areSingleOn ? single[key] : undefined);
}
