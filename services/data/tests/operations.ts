// Operations of batches and of change requests, which have one form.

export type Op = Record<string, unknown>;

export const added = (record: Op): Op => ({ operation: 'create', record });

export const changed = (id: unknown, record: Op, version?: number): Op => ({
  operation: 'update',
  id,
  record,
  version,
});

export const deletion = (id: unknown, version?: number): Op => ({ operation: 'delete', id, version });

export const restoration = (id: unknown): Op => ({ operation: 'restore', id });
