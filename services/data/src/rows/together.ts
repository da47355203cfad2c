// What is asked of a table for single rows in one turn of the event loop goes to PostgreSQL together. Under load that is several at a
// time, and a statement, its way there and back included, costs far more than one more row in it. Nobody waits for others to come.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { longestRecord, surelyFit } from '../query/answer-size.ts';

type Ctx = Pick<DataContext, 'pools'>;
type Group<A, R> = { asked: A[]; most: number; answers: Promise<readonly (R | Promise<R>)[]> };

const mostTogether = 50;

/**
 * Makes a way to have one thing done that does all that come at once: `work` is given what was asked for, and answers each in its
 * place. No more go together than surely fit into one answer, so the record that is too long fails for nobody else.
 */
export function together<A, R>(
  work: (ctx: Ctx, table: DeployedTable, asked: A[]) => Promise<readonly (R | Promise<R>)[]>,
): (ctx: Ctx, table: DeployedTable, asked: A) => Promise<R> {
  // By entry, so by revision too. A group is gone from here when its work begins: what is asked for later sees what is done by then.
  const groups = new WeakMap<DeployedTable, Group<A, R>>();
  const begin = (ctx: Ctx, table: DeployedTable): Group<A, R> => {
    const asked: A[] = [];
    const answers = nextTurn().then(() => {
      if (groups.get(table)?.asked === asked) groups.delete(table);
      return work(ctx, table, asked);
    });
    return { asked, most: Math.min(mostTogether, surelyFit(longestRecord(table))), answers };
  };
  return async (ctx, table, one) => {
    let group = groups.get(table);
    if (!group || group.asked.length === group.most) {
      group = begin(ctx, table);
      groups.set(table, group);
    }
    const place = group.asked.push(one) - 1;
    return (await group.answers)[place] as R | Promise<R>;
  };
}
