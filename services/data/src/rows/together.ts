// What is asked of a table for single rows at about the same moment goes to PostgreSQL together: all of one turn of the event loop, and, while
// enough statements for it are under way, all until one of these ends. A statement, its way there and back included, costs far more than one
// more row in it. Who is alone waits for nobody.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { findSqlState } from '@almanac/service-kit/postgres-errors';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { longestRecord, surelyFit } from '../query/answer-size.ts';

type Ctx = Pick<DataContext, 'pools'>;
type Group<A, R> = { asked: A[]; answers: Promise<readonly (R | Promise<R>)[]> };
type Lane<A, R> = { most: number; underWay: number; waiting: (() => void)[]; group?: Group<A, R> };

const mostTogether = 50;
const shortMs = 20; // a statement that takes longer than that holds nobody up

/**
 * Makes a way to have one thing done that does all that come at about the same moment: `work` is given what was asked for, and answers each in
 * its place. `atOnce` statements for a table are under way before what comes next is gathered. No more go together than surely fit into one
 * answer, so the record that is too long fails for nobody else.
 */
export function together<A, R>(
  atOnce: number,
  work: (ctx: Ctx, table: DeployedTable, asked: A[]) => Promise<readonly (R | Promise<R>)[]>,
  patienceMs = shortMs,
): (ctx: Ctx, table: DeployedTable, asked: A) => Promise<R> {
  // By entry, so by revision too.
  const lanes = new WeakMap<DeployedTable, Lane<A, R>>();
  const laneOf = (table: DeployedTable): Lane<A, R> => {
    let lane = lanes.get(table);
    if (!lane) {
      lane = { most: Math.min(mostTogether, surelyFit(longestRecord(table))), underWay: 0, waiting: [] };
      lanes.set(table, lane);
    }
    return lane;
  };

  // A group is gone from its lane when its work begins: what is asked for later sees what is done by then.
  const begin = (ctx: Ctx, table: DeployedTable, lane: Lane<A, R>): Group<A, R> => {
    const serve = async () => {
      await nextTurn();
      if (lane.underWay >= atOnce) await turnIn(lane, patienceMs);
      if (lane.group === group) lane.group = undefined;
      lane.underWay += 1;
      try {
        return await work(ctx, table, group.asked);
      } finally {
        lane.underWay -= 1;
        lane.waiting.shift()?.();
      }
    };
    const group: Group<A, R> = { asked: [], answers: serve() };
    return group;
  };

  return async (ctx, table, one) => {
    const lane = laneOf(table);
    if (!lane.group || lane.group.asked.length === lane.most) lane.group = begin(ctx, table, lane);
    const { group } = lane;
    const place = group.asked.push(one) - 1;
    return (await group.answers)[place] as R | Promise<R>;
  };
}

// Until one of those under way ends, or patience does.
function turnIn({ waiting }: { waiting: (() => void)[] }, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(go), 1);
      resolve();
    }, patienceMs);
    waiting.push(go);
  });
}

/** Whether PostgreSQL has said what is wrong with a statement: nothing of it was done, so each of a group can be tried alone. After a lost connection nobody knows. */
export const isUndone = (error: unknown): boolean => /^(22|23|40|54|55)/.test(findSqlState(error) ?? '');
