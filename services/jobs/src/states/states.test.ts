import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportMachine } from './export-states.ts';
import { importMachine, importOutcome, importTableMachine } from './import-states.ts';
import { mailMachine } from './mail-states.ts';
import { statesAllowing } from './state-machine.ts';

/** The transitions of each diagram of a page. */
function diagramsOf(page: string): string[][] {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/states', page), 'utf8');
  return [...text.matchAll(/```mermaid\n([\s\S]*?)```/g)].map(([, diagram = '']) =>
    [...diagram.matchAll(/^ {2}(\w+) --> (\w+): (\w+)$/gm)]
      .map(([, from, to, event]) => `${from} ${event} ${to}`)
      .toSorted(),
  );
}

const linesOf = (machine: readonly (readonly [string, string, string])[]) =>
  machine.map((each) => each.join(' ')).toSorted();

describe('the state machines', () => {
  it('equal the diagrams in the docs', () => {
    expect(diagramsOf('import.md')).toEqual([linesOf(importMachine), linesOf(importTableMachine)]);
    expect(diagramsOf('export.md')).toEqual([linesOf(exportMachine)]);
    expect(diagramsOf('mail.md')).toEqual([linesOf(mailMachine)]);
  });

  it('give the states that allow an event', () => {
    expect(statesAllowing(importMachine, 'complete')).toEqual(['created', 'uploading', 'processing']);
    expect(statesAllowing(exportMachine, 'finish')).toEqual(['processing']);
  });

  it.each([
    [[], 'completed'],
    [['cancelled'], 'completed'],
    [['completed', 'cancelled'], 'completed'],
    [['failed', 'failed'], 'failed'],
    [['failed', 'cancelled'], 'failed'],
    [['failed', 'completed'], 'completed_with_errors'],
    [['completed_with_errors'], 'completed_with_errors'],
  ] as const)('let an import with tables %j end as %s', (tables, outcome) => {
    expect(importOutcome(tables)).toBe(outcome);
  });
});
