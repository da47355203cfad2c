// The kinds of changes that two states of a table can have to a row.

export const changeKinds = ['created', 'updated', 'deleted'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** The operation of each kind of change, whose sign it has. */
export const operationOf = { created: 'create', updated: 'update', deleted: 'delete' } as const;
