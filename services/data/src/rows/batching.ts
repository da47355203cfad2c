// Single rows of a table that are asked for in one turn of the event loop share a statement
// (docs/adr/0017-batching-row-calls.md): its round trip costs far more than one more row in it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hasSqlClass } from '@almanac/service-kit/postgres/errors';
import type { Pools } from '../postgres/pools.ts';
import type { DeployedTable } from '../tables/table.ts';
import { maxRecordBytes, maxRowsThatFit } from './answer-size.ts';

type Outputs<Output> = readonly (Output | Promise<Output>)[];
type Batch<Input, Output> = { inputs: Input[]; outputs: Promise<Outputs<Output>> };
type Queue<Input, Output> = { maxSize: number; open?: Batch<Input, Output> | undefined };

type Options<Input, Output> = {
  /**
   * One output for each input, in their order; a promise for an input that has its own statement.
   */
  execute: (pools: Pools, table: DeployedTable, inputs: Input[]) => Promise<Outputs<Output>>;
};

const maxBatchSize = 50;

/**
 * Makes a function that returns the output of one input, through one call of `execute` with all
 * inputs for the same table entry (of one account and revision) in this turn of the event loop. A
 * batch never exceeds an answer, so a record that is too long fails alone. An error of `execute` is
 * the error of each of its inputs.
 */
export function createBatcher<Input, Output>({
  execute,
}: Options<Input, Output>): (pools: Pools, table: DeployedTable, input: Input) => Promise<Output> {
  const queues = new WeakMap<DeployedTable, Queue<Input, Output>>();
  const queueOf = (table: DeployedTable): Queue<Input, Output> => {
    let queue = queues.get(table);
    if (!queue) {
      queue = { maxSize: Math.min(maxBatchSize, maxRowsThatFit(maxRecordBytes(table))) };
      queues.set(table, queue);
    }
    return queue;
  };

  const openBatch = (pools: Pools, table: DeployedTable, queue: Queue<Input, Output>): Batch<Input, Output> => {
    const inputs: Input[] = [];
    const run = async () => {
      await nextTurn();
      // Closed before its statement begins: a later read must see what has been committed by then.
      if (queue.open === batch) queue.open = undefined;
      return execute(pools, table, inputs);
    };
    const batch: Batch<Input, Output> = { inputs, outputs: run() };
    return batch;
  };

  return async (pools, table, input) => {
    const queue = queueOf(table);
    if (!queue.open || queue.open.inputs.length === queue.maxSize) queue.open = openBatch(pools, table, queue);
    const { inputs, outputs } = queue.open;
    const place = inputs.push(input) - 1;
    return (await outputs)[place] as Output | Promise<Output>;
  };
}

/**
 * Whether PostgreSQL has refused a statement and rolled all of it back, so that each row can be
 * tried alone. False after a lost connection: the statement may have been committed.
 */
export const wasRolledBack = (error: unknown): boolean =>
  hasSqlClass(error, 'data_exception', 'integrity_constraint_violation', 'transaction_rollback') ||
  hasSqlClass(error, 'program_limit_exceeded', 'object_not_in_prerequisite_state');
