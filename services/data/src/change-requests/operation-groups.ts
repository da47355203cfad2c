// How many operations of a change request are alike. Counting a hundred thousand takes longer than
// showing a window of them, so counts are cached until operations or decisions change; problems,
// which a rehearsal finds without changing the request, are counted each time.
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { run } from '../postgres/pools.ts';
import type { ChangeRequest, Decision, Kind } from './change-requests.ts';

type Alike = { table_definition_id: number; kind: Kind; decision: Decision; count: number };
/** How many operations of a table are alike in this. */
export type Group = Alike & { has_problem: boolean };

const maxRequests = 1_000;

export class OperationGroups {
  private readonly pool: pg.Pool;
  private readonly cached = new LRUCache<string, Alike[]>({ max: maxRequests });

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** The operations of a request in groups, none of them empty. */
  async count(request: ChangeRequest): Promise<Group[]> {
    const [all, withProblems] = await Promise.all([
      this.countAll(request),
      run<Alike>(this.pool, groupsSql(request, 'has_problem')),
    ]);
    return all.flatMap((group) => {
      const broken = withProblems.find((each) => nameOf(each) === nameOf(group))?.count ?? 0;
      const parts = [
        { ...group, has_problem: false, count: group.count - broken },
        { ...group, has_problem: true, count: broken },
      ];
      return parts.filter(({ count }) => count > 0);
    });
  }

  // A caller that read the header before a change may store newer counts under the older name; that
  // name isn't read again.
  private async countAll(request: ChangeRequest): Promise<Alike[]> {
    const name = `${request.account_id}:${request.id}:${request.changes}`;
    const known = this.cached.get(name);
    if (known) return known;
    const counted = await run<Alike>(this.pool, groupsSql(request, 'true'));
    this.cached.set(name, counted);
    return counted;
  }
}

const groupsSql = ({ account_id, id }: ChangeRequest, condition: 'true' | 'has_problem') => ({
  text:
    `select table_definition_id, kind, decision, count(*) as count from change_request_operation` +
    ` where account_id = $1::int and change_request_id = $2::int and ${condition} group by 1, 2, 3`,
  values: [account_id, id],
});

const nameOf = ({ table_definition_id, kind, decision }: Alike) => `${table_definition_id}:${kind}:${decision}`;
