// Finds what metadata owns by a text, under the rights of the lists. Definitions and domains are
// ranked by PostgreSQL; changes are found by their number, then the latest ones by their words.
import { prismaWhere } from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { limits } from '@almanac/service-kit/limits';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Reach } from '@almanac/service-kit/rights/rights';
import { visibleChangeRequests } from '../changes/change-requests/change-request-rights.ts';
import type { ChangeRequestState } from '../changes/change-requests/change-request-states.ts';
import { visibleDeployments, visiblePromotions } from '../changes/change-visibility.ts';
import type { DeploymentState } from '../changes/deployments/deployment-states.ts';
import type { PromotionState } from '../changes/promotions/promotion-states.ts';
import type { MetadataContext } from '../context.ts';
import { readVisibleReach, visibleBranches, visibleDefinitionsSql, visibleValues } from '../rights/visibility.ts';
import type { FoundColumn, FoundDomain, FoundTable } from './search-schema.ts';

const max = limits.itemsFoundPerKind;

type Asked = { text: string; branchId: number | undefined; reach: Reach };

/** The best matches of each kind. */
export async function search(ctx: MetadataContext, call: CallContext, text: string, branchId: number | undefined) {
  const asked = { text, branchId, reach: await readVisibleReach(ctx, call) };
  const [tables, columns, domains, branches, change_requests, deployments, promotions] = await Promise.all([
    findTables(ctx, call, asked),
    findColumns(ctx, call, asked),
    findDomains(ctx, call, asked),
    findBranches(ctx, call, asked),
    findChangeRequests(ctx, call, asked),
    findDeployments(ctx, call, asked),
    findPromotions(ctx, call, asked),
  ]);
  return { tables, columns, domains, branches, change_requests, deployments, promotions };
}

// $1 account, $2 text. The lower, the better; null: no match.
const rankSql = (names: string[], others: string[] = []) => {
  const any = (test: (x: string) => string, of: string[]) => of.map(test).join(' or ');
  const within = (x: string) => `strpos(lower(${x}), lower($2)) > 0`;
  return (
    `case when ${any((x) => `lower(${x}) = lower($2)`, names)} then 0 when ${any((x) => `starts_with(lower(${x}), lower($2))`, names)} then 1` +
    ` when ${any(within, names)} then 2${others.length === 0 ? '' : ` when ${any(within, others)} then 3`} end`
  );
};

// A table is found by its draft as well as by what is in service, each where it may be seen.
async function findTables(ctx: MetadataContext, call: CallContext, asked: Asked): Promise<FoundTable[]> {
  const source = (table: string, isDraft: boolean) =>
    `select d.id, d.key, d.name, d.domain_id, d.branch_id, ${isDraft} as is_draft, ${rankSql(['d.key', 'd.name'], ['d.description'])} as rank
     from ${table} d where d.account_id = $1 and ($3::int is null or d.branch_id = $3) and ${visibleDefinitionsSql('d', 4)}`;
  const { rows } = await prismaSql(ctx.prisma)(
    `with matches as (select * from (${source('table_definition', true)} union all ${source('deployed_table_definition', false)}) all_of
       where rank is not null),
     best as (select distinct on (id) m.*, min(rank) over (partition by id) as best from matches m order by id, is_draft)
     select b.id, b.key, b.name, b.domain_id, b.branch_id, branch.name as branch_name,
       exists (select from deployed_table_definition p where p.id = b.id) as is_deployed
     from best b join branch on branch.id = b.branch_id order by b.best, lower(b.name), b.id limit ${max}`,
    valuesOf(call, asked),
  );
  return rows as FoundTable[];
}

async function findColumns(ctx: MetadataContext, call: CallContext, asked: Asked): Promise<FoundColumn[]> {
  const { rows } = await prismaSql(ctx.prisma)(
    `select c.id, c.name, d.id as table_definition_id, d.name as table_definition_name, d.branch_id, branch.name as branch_name
     from (select c.*, ${rankSql(['c.name'])} as rank from column_definition c where c.account_id = $1) c
       join table_definition d on d.id = c.table_definition_id join branch on branch.id = d.branch_id
     where c.rank is not null and ($3::int is null or d.branch_id = $3) and ${visibleDefinitionsSql('d', 4)}
     order by c.rank, lower(c.name), lower(d.name), c.id limit ${max}`,
    valuesOf(call, asked),
  );
  return rows as FoundColumn[];
}

const valuesOf = ({ accountId }: CallContext, { text, branchId, reach }: Asked) => [
  accountId,
  text,
  branchId ?? null,
  ...visibleValues(reach),
];

async function findDomains(ctx: MetadataContext, { accountId }: CallContext, { text }: Asked): Promise<FoundDomain[]> {
  const { rows } = await prismaSql(ctx.prisma)(
    `select id, name, abbreviation from (select d.*, ${rankSql(['d.name', 'd.abbreviation'])} as rank from domain d where d.account_id = $1) d
     where rank is not null order by rank, lower(name), id limit ${max}`,
    [accountId, text],
  );
  return rows as FoundDomain[];
}

async function findBranches(ctx: MetadataContext, call: CallContext, { text }: Asked) {
  const visible = await visibleBranches(ctx, call);
  const find = (operator: 'contains' | 'starts_with', taken: number[]) =>
    ctx.prisma.branch.findMany({
      where: {
        account_id: call.accountId,
        AND: [visible, containing('name', text, operator), { id: { notIn: taken } }],
      },
      select: { id: true, name: true },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
      take: max - taken.length,
    });
  const first = await find('starts_with', []);
  return [
    ...first,
    ...(await find(
      'contains',
      first.map(({ id }) => id),
    )),
  ];
}

const containing = (field: string, text: string, operator: 'contains' | 'starts_with' = 'contains') =>
  prismaWhere([{ field, operator, values: [text], nullable: false }]);

/** The number that a text stands for, `85` or `#85`. */
function numberIn(text: string): number | undefined {
  const digits = /^#?(\d{1,10})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Math.min(Number(digits), limits.int4);
}

// The one with that number, then the latest ones with the text in `field`.
async function byNumberOrText<T extends { id: number }>(
  { text }: Asked,
  field: string,
  find: (where: object, take: number) => Promise<T[]>,
): Promise<T[]> {
  const id = numberIn(text);
  const numbered = id === undefined ? [] : await find({ id }, 1);
  const others = await find(
    { AND: [containing(field, text), ...numbered.map((each) => ({ NOT: { id: each.id } }))] },
    max,
  );
  return [...numbered, ...others].slice(0, max);
}

const latestFirst = [{ updated_at: 'desc' }, { id: 'desc' }] as const;
const changeFields = { id: true, status: true, updated_at: true } as const;

async function findChangeRequests(ctx: MetadataContext, call: CallContext, asked: Asked) {
  const visible = await visibleChangeRequests(ctx, call);
  const found = await byNumberOrText(asked, 'title', (where, take) =>
    ctx.prisma.change_request.findMany({
      where: { account_id: call.accountId, branch_id: asked.branchId, AND: [visible, where] },
      select: { ...changeFields, branch_id: true, title: true },
      orderBy: [...latestFirst],
      take,
    }),
  );
  return found.map((each) => ({ ...each, status: each.status as ChangeRequestState }));
}

// Their lists are for people on plans with branching.
const seesAttempts = ({ userId, branching }: CallContext) => userId !== undefined && branching;

async function findDeployments(ctx: MetadataContext, call: CallContext, asked: Asked) {
  if (!seesAttempts(call)) return [];
  const found = await byNumberOrText(asked, 'comment', (where, take) =>
    ctx.prisma.deployment.findMany({
      where: { account_id: call.accountId, branch_id: asked.branchId, AND: [visibleDeployments(asked.reach), where] },
      select: { ...changeFields, branch_id: true, comment: true },
      orderBy: [...latestFirst],
      take,
    }),
  );
  return found.map((each) => ({ ...each, status: each.status as DeploymentState }));
}

async function findPromotions(ctx: MetadataContext, call: CallContext, asked: Asked) {
  if (!seesAttempts(call)) return [];
  const visible = await visiblePromotions(ctx, call);
  const found = await byNumberOrText(asked, 'comment', (where, take) =>
    ctx.prisma.promotion.findMany({
      where: { account_id: call.accountId, to_branch_id: asked.branchId, AND: [visible, where] },
      select: { ...changeFields, to_branch_id: true, comment: true },
      orderBy: [...latestFirst],
      take,
    }),
  );
  return found.map(({ to_branch_id, ...each }) => ({
    ...each,
    branch_id: to_branch_id,
    status: each.status as PromotionState,
  }));
}
