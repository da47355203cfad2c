// How the attributes of a thing differ before and after an act.

type Attributes = Record<string, unknown> | null;

/** Without `before` or without `after` the attribute was not there. */
export type AttributeChange = { name: string; before?: string; after?: string };

/** The attributes that differ, in the order of their names. */
export function attributeChanges(before: Attributes, after: Attributes): AttributeChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].toSorted();
  return names.flatMap((name) => {
    const change: AttributeChange = { name };
    if (before && name in before) change.before = toText(before[name]);
    if (after && name in after) change.after = toText(after[name]);
    return change.before === change.after ? [] : [change];
  });
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '∅';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
