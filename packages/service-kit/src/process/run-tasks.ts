// The tasks of a round of periodic work, none of which depends on another.
import type { Logger } from '../observability/logger.ts';

/**
 * Runs the tasks in their order. One that fails is logged by its name, so that it doesn't keep the
 * later ones from running in every round.
 */
export async function runTasks(
  logger: Pick<Logger, 'warn'>,
  tasks: Record<string, () => Promise<unknown>>,
): Promise<void> {
  for (const [task, run] of Object.entries(tasks)) {
    try {
      await run();
    } catch (error) {
      logger.warn({ err: error, task }, 'a task of periodic work failed; the next round tries again');
    }
  }
}
