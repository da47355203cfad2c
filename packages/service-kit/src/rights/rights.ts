// Who may do what (design 3.2): what somebody holds, compiled so that every request can ask, and the questions asked of it.

import { invalidToken } from '../caller/unauthenticated.ts';
import { notFound, ServiceError } from '../errors.ts';
import type { RpcCaller } from '../rpc/contract.ts';

export type Action = 'admin' | 'develop' | 'edit' | 'view' | 'approve';
export type Permission = { action: string; resource_type: string; resource_id: number };

/**
 * Identity's answer. `revision` rises with every change of rights in the account; 0 when identity doesn't tell it.
 * `private_branch_ids`: all of the account, also those that are gone; an identity of an earlier release knows none.
 */
export type EffectivePermissions = {
  license_type: string;
  permissions: Permission[];
  revision?: number;
  private_branch_ids?: number[];
};

/** Where the right is needed: any of these resources, or the whole account, may grant it. */
export type Where = { domainId?: number; branchId?: number; tableDefinitionId?: number };

/** What somebody holds: for each place, the actions granted there as a set of bits. */
export type HeldRights = {
  readonly revision: number;
  readonly account: number;
  readonly domain: ReadonlyMap<number, number>;
  readonly branch: ReadonlyMap<number, number>;
  readonly table_definition: ReadonlyMap<number, number>;
  /** Private branches, where only rights on the branch itself and on its tables count. None for administrators. */
  readonly closedBranches: ReadonlySet<number>;
};

const bits = { view: 1, edit: 2, develop: 4, admin: 8, approve: 16 } as const satisfies Record<Action, number>;
const covers = {
  view: bits.view,
  edit: bits.edit | bits.view,
  develop: bits.develop | bits.edit | bits.view,
  admin: bits.admin | bits.develop | bits.edit | bits.view,
  approve: bits.approve,
} as const satisfies Record<Action, number>;
const everything = covers.admin | covers.approve;

/** Compiles identity's answer. Rights add up; `admin` of the account passes all; an end user's licence caps at `edit`. */
export function compileRights({
  license_type,
  permissions,
  revision = 0,
  private_branch_ids = [],
}: EffectivePermissions): HeldRights {
  const domain = new Map<number, number>();
  const branch = new Map<number, number>();
  const table_definition = new Map<number, number>();
  const places = new Map([
    ['domain', domain],
    ['branch', branch],
    ['table_definition', table_definition],
  ]);
  let account = 0;
  for (const { action, resource_type, resource_id } of permissions) {
    const granted = grantedBy(action, resource_type, license_type);
    if (resource_type === 'account') account |= granted;
    const place = places.get(resource_type);
    place?.set(resource_id, (place.get(resource_id) ?? 0) | granted);
  }
  const closedBranches = new Set((account & bits.admin) === 0 ? private_branch_ids : []);
  return { revision, account, domain, branch, table_definition, closedBranches };
}

// An action or resource that a later release may name is no right yet.
function grantedBy(action: string, resourceType: string, licence: string): number {
  if (!Object.hasOwn(covers, action)) return 0;
  if (licence === 'end_user' && (action === 'admin' || action === 'develop')) return covers.edit;
  return action === 'admin' && resourceType === 'account' ? everything : covers[action as Action];
}

/** True when what is held allows the action there. */
export function allows(held: HeldRights, action: Action, where: Where): boolean {
  return (grantedAt(held, where) & bits[action]) !== 0;
}

function grantedAt(held: HeldRights, { domainId, branchId, tableDefinitionId }: Where): number {
  let granted = 0;
  if (branchId !== undefined) granted |= held.branch.get(branchId) ?? 0;
  if (tableDefinitionId !== undefined) granted |= held.table_definition.get(tableDefinitionId) ?? 0;
  if (branchId !== undefined && held.closedBranches.has(branchId)) return granted;
  if (domainId !== undefined) granted |= held.domain.get(domainId) ?? 0;
  return granted | held.account;
}

/** False where there is nothing for whoever holds this: on a private branch without any right on it or on the table. */
export function isKnown(held: HeldRights, where: Where): boolean {
  return where.branchId === undefined || !held.closedBranches.has(where.branchId) || grantedAt(held, where) !== 0;
}

/**
 * The places where somebody may do something: what a list can be cut down to. On closed branches (private ones) neither
 * `everywhere` nor `domainIds` counts, `branchIds` and `tableDefinitionIds` do.
 */
export type Reach = {
  everywhere: boolean;
  domainIds: number[];
  branchIds: number[];
  tableDefinitionIds: number[];
  closedBranchIds: number[];
};

export const reachesEverywhere: Reach = {
  everywhere: true,
  domainIds: [],
  branchIds: [],
  tableDefinitionIds: [],
  closedBranchIds: [],
};

/** Where what is held allows the action. */
export function reachOf(held: HeldRights, action: Action): Reach {
  const idsIn = (places: ReadonlyMap<number, number>) =>
    [...places].filter(([, granted]) => (granted & bits[action]) !== 0).map(([id]) => id);
  return {
    everywhere: (held.account & bits[action]) !== 0,
    domainIds: idsIn(held.domain),
    branchIds: idsIn(held.branch),
    tableDefinitionIds: idsIn(held.table_definition),
    closedBranchIds: [...held.closedBranches],
  };
}

/**
 * The refusal of an action that isn't allowed: 403, or on a private branch that isn't known to them the 404 of a thing that isn't
 * there. `missing` makes another 404 than that of the table, else the branch.
 */
export function refusal(held: HeldRights, action: Action, where: Where, missing?: () => ServiceError): ServiceError {
  if (isKnown(held, where)) return missingRight(action, where);
  if (missing) return missing();
  return notFound(where.tableDefinitionId === undefined ? 'Branch' : 'Table definition');
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

/** The 401 of a token whose user no longer exists (contract, Authentication failures). */
export function unknownUser(): ServiceError {
  return invalidToken('Invalid resource owner', 'The user of this token is gone.');
}

/**
 * `fresh`: by an answer of this moment, for what is rare and weighs much; otherwise a remembered answer will do. `missing` makes
 * the 404 of a place on a private branch, where it isn't that of the table or branch.
 */
export type RightsOptions = { fresh?: boolean; missing?: () => ServiceError };

/** What the users of this account hold. */
export type Rights = {
  /** Throws 401 when the caller's user is gone. */
  get(caller: RpcCaller, options?: RightsOptions): Promise<HeldRights>;
  /**
   * Drops cached rights older than `revision`, of one user or (null) of all of the account; without
   * a revision, whatever their age.
   */
  invalidate(accountId: number, userId: number | null, revision?: number): void;
  invalidateAll(): void;
};

/**
 * Throws 403 unless the caller may; 404 on a private branch that isn't known to them. Machines act for the whole account within
 * their scopes (design 3.2). To administer and to approve is always asked afresh.
 */
export async function requireRight(
  rights: Rights,
  caller: RpcCaller,
  action: Action,
  where: Where,
  { fresh = action === 'admin' || action === 'approve', missing }: RightsOptions = {},
): Promise<void> {
  if (caller.userId === undefined) return;
  const held = await rights.get(caller, { fresh });
  if (!allows(held, action, where)) throw refusal(held, action, where, missing);
}
