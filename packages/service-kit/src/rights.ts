// Who may do what (design 3.2): pure rules, and a cache of identity's answers that is dropped by event.
import { LRUCache } from 'lru-cache';
import type { CallContext } from './call-context.ts';
import { ServiceError } from './errors.ts';
import type { RpcClient } from './rpc-contract.ts';

export type Action = 'admin' | 'develop' | 'edit' | 'view' | 'approve';
export type Permission = { action: string; resource_type: string; resource_id: number };
export type EffectivePermissions = { license_type: string; permissions: Permission[] };

/** Where the right is needed: any of these resources, or the whole account, may grant it. */
export type Where = { domainId?: number; branchId?: number; tableDefinitionId?: number };

const covers = {
  admin: ['admin', 'develop', 'edit', 'view'],
  develop: ['develop', 'edit', 'view'],
  edit: ['edit', 'view'],
  view: ['view'],
  approve: ['approve'],
} as const satisfies Record<Action, readonly Action[]>;

const cappedActions = new Set<string>(['admin', 'develop']);

/** True when the permissions allow the action there. Rights add up; `admin` of the account passes all; an end user's licence caps at `edit`. */
export function allows(held: EffectivePermissions, action: Action, where: Where): boolean {
  return held.permissions.some((permission) => {
    if (!reaches(permission, where)) return false;
    const capped = held.license_type === 'end_user' && cappedActions.has(permission.action);
    const granted = (capped ? 'edit' : permission.action) as Action;
    if (granted === 'admin' && permission.resource_type === 'account') return true;
    return (covers[granted] as readonly Action[] | undefined)?.includes(action) ?? false;
  });
}

function reaches(permission: Permission, where: Where): boolean {
  switch (permission.resource_type) {
    case 'account':
      return true;
    case 'domain':
      return permission.resource_id === where.domainId;
    case 'branch':
      return permission.resource_id === where.branchId;
    case 'table_definition':
      return permission.resource_id === where.tableDefinitionId;
    default:
      return false;
  }
}

/** The 403 of a missing right, naming it. */
export function missingRight(action: Action, where: Where): ServiceError {
  const places = [
    where.tableDefinitionId === undefined ? undefined : 'the table',
    where.domainId === undefined ? undefined : 'its domain',
    where.branchId === undefined ? undefined : 'its branch',
    'the account',
  ].filter((place) => place !== undefined);
  return new ServiceError(
    'forbidden',
    `You need the right "${action}" on ${places.join(', ').replace(/, (?=[^,]*$)/, ' or ')}.`,
  );
}

export type Rights = {
  get(call: CallContext): Promise<EffectivePermissions>;
  /** Forgets one user's rights, or all of an account's. */
  forget(accountId: number, userId: number | null): void;
};

/** Asks identity once per user and remembers the answer for a short while, or until an event says that it changed. */
export function createRights(identity: Pick<RpcClient<'identity'>, 'GetEffectivePermissions'>): Rights {
  const remembered = new LRUCache<string, Promise<EffectivePermissions>>({ max: 10_000, ttl: 30_000 });
  return {
    get(call) {
      const key = `${call.accountId}:${call.userId}`;
      let answer = remembered.get(key);
      if (!answer) {
        answer = identity.GetEffectivePermissions(call, { user_id: call.userId as number });
        remembered.set(key, answer);
        answer.catch(() => remembered.delete(key));
      }
      return answer;
    },
    forget(accountId, userId) {
      for (const key of remembered.keys())
        if (userId === null ? key.startsWith(`${accountId}:`) : key === `${accountId}:${userId}`)
          remembered.delete(key);
    },
  };
}

/** Throws 403 unless the caller may. Machines act for the whole account within their scopes (design 3.2). */
export async function requireRight(rights: Rights, call: CallContext, action: Action, where: Where): Promise<void> {
  if (call.userId === undefined) return;
  if (!allows(await rights.get(call), action, where)) throw missingRight(action, where);
}
