import { runTasks } from './run-tasks.ts';

it('runs the tasks in order; one that fails is logged by its name, and the later ones run', async () => {
  const ran: string[] = [];
  const warnings: unknown[] = [];
  const failure = new Error('a table is locked');
  await runTasks(
    { warn: ((fields: unknown) => warnings.push(fields)) as never },
    {
      first: async () => ran.push('first'),
      failing: async () => {
        throw failure;
      },
      last: async () => ran.push('last'),
    },
  );
  expect(ran).toEqual(['first', 'last']);
  expect(warnings).toEqual([{ err: failure, task: 'failing' }]);
});
