import type { Schemas } from '../../api/client.ts';

export type Right = Schemas['ExplainPermissionRequest']['action'];

/** The rights, each after those that it holds. */
export const rights = ['view', 'edit', 'develop', 'admin', 'approve'] as const satisfies Right[];
