// Rights (design 3.2): identity's answer about a user, compiled for quick checks, and the checks.

import { invalidToken } from '../caller/unauthenticated.ts';
import { notFound, ServiceError } from '../errors.ts';
import type { RpcCaller } from '../rpc/contract.ts';

export type Action = 'admin' | 'develop' | 'edit' | 'view' | 'approve';
export type Permission = { action: string; resource_type: string; resource_id: number };

/**
 * Identity's answer. `revision` rises with every change of rights in the account; 0 when identity
 * doesn't send it. `private_branch_ids` are all of the account, deleted ones too; earlier releases
 * of identity send none.
 */
export type EffectivePermissions = {
  license_type: string;
  permissions: Permission[];
  revision?: number;
  private_branch_ids?: number[];
};

/** The place of an action: a right on any of these resources, or on the account, allows it. */
export type Where = { domainId?: number; branchId?: number; tableDefinitionId?: number };

/** The rights of a user: for each resource, the actions as a set of bits. */
export type HeldRights = {
  readonly revision: number;
  readonly account: number;
  readonly domain: ReadonlyMap<number, number>;
  readonly branch: ReadonlyMap<number, number>;
  readonly table_definition: ReadonlyMap<number, number>;
  /**
   * Private branches, where only rights on the branch and its tables count. Administrators have
   * none.
   */
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

/** Compiles identity's answer. Rights add up; an end user's licence caps them at `edit`. */
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

// Unknown actions and resources, of a later release, grant nothing.
function grantedBy(action: string, resourceType: string, licence: string): number {
  if (!Object.hasOwn(covers, action)) return 0;
  if (licence === 'end_user' && (action === 'admin' || action === 'develop')) return covers.edit;
  return action === 'admin' && resourceType === 'account' ? everything : covers[action as Action];
}

/**
 * The actions of permissions that give an action: to any user, and to one with an end user's
 * licence. `admin` on the account gives a developer every action besides.
 */
export function actionsCovering(action: Action): { all: Action[]; asEndUser: Action[] } {
  const names = Object.keys(covers) as Action[];
  const giving = (licence: string) => names.filter((name) => (grantedBy(name, 'branch', licence) & bits[action]) !== 0);
  return { all: giving('developer'), asEndUser: giving('end_user') };
}

/** True when the rights allow the action at the place. */
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

/** False on a private branch without any right on it or on the table: the place is hidden. */
export function isKnown(held: HeldRights, where: Where): boolean {
  return where.branchId === undefined || !held.closedBranches.has(where.branchId) || grantedAt(held, where) !== 0;
}

/**
 * The places where a user may do something, to filter lists. On closed (private) branches only
 * `branchIds` and `tableDefinitionIds` count.
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

/** The places where the rights allow the action. */
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
 * The refusal of an action: 403, or on a hidden private branch the 404 of an unknown id. `missing`
 * makes another 404 than that of the table or branch.
 */
export function refusal(held: HeldRights, action: Action, where: Where, missing?: () => ServiceError): ServiceError {
  if (isKnown(held, where)) return missingRight(action, where);
  if (missing) return missing();
  return notFound(where.tableDefinitionId === undefined ? 'Branch' : 'Table definition');
}

/** The 403 that names the missing right. */
export function missingRight(action: Action, where: Where): ServiceError {
  const places = [
    where.tableDefinitionId === undefined ? undefined : 'the table',
    where.domainId === undefined ? undefined : 'its domain',
    where.branchId === undefined ? undefined : 'its branch',
    'the account',
  ].filter((place) => place !== undefined);
  const message = `You need the right "${action}" on ${places.join(', ').replace(/, (?=[^,]*$)/, ' or ')}.`;
  return new ServiceError('forbidden', { code: 'missing_right', message, params: { right: action } });
}

/** The 401 of a token whose user no longer exists (contract, Authentication failures). */
export function unknownUser(): ServiceError {
  return invalidToken('unknown_user', 'Invalid resource owner', 'The user of this token no longer exists.');
}

/**
 * `fresh` bypasses the cache, for actions that are rare and important. `missing` makes another 404
 * for a hidden place than that of the table or branch.
 */
export type RightsOptions = { fresh?: boolean; missing?: () => ServiceError };

/** The rights of users. */
export type Rights = {
  /** Throws 401 when the caller's user no longer exists. */
  get(caller: RpcCaller, options?: RightsOptions): Promise<HeldRights>;
  /**
   * Drops cached rights older than `revision`, of one user or (null) of all of the account; without
   * a revision, whatever their age.
   */
  invalidate(accountId: number, userId: number | null, revision?: number): void;
  invalidateAll(): void;
};

/**
 * Throws 403 unless the caller may; 404 on a private branch that is hidden from them. Machines act
 * for the whole account within their scopes (design 3.2). `admin` and `approve` bypass the cache.
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
