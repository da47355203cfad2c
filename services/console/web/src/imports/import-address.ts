// What the addresses of imports say: which are listed, and what of one is shown.
import { type ChangeKind, changeKinds } from '../diff/change-kinds.ts';

/** The states that a list can be limited to; `running` is all in which an import is open. */
export const importStates = ['running', 'completed', 'completed_with_errors', 'failed', 'cancelled'] as const;
export type ImportState = (typeof importStates)[number];

export const wizardSteps = ['file', 'columns', 'effect'] as const;
export type WizardStep = (typeof wizardSteps)[number];

export type ImportsAddress = { state?: ImportState | undefined };
/** Of an import: which kind of changes is shown, and of which of its tables. */
export type ImportAddress = { kind?: ChangeKind | undefined; of?: number | undefined };
export type WizardAddress = {
  /** The key of the table to load. */
  table?: string | undefined;
  step?: WizardStep | undefined;
  /** The import that is the dry run. */
  import?: number | undefined;
  kind?: ChangeKind | undefined;
};

type Search = Record<string, unknown>;

export function readImportsAddress({ state }: Search): ImportsAddress {
  return { state: oneOf(importStates, state) };
}

export function readImportAddress({ kind, of }: Search): ImportAddress {
  return { kind: oneOf(changeKinds, kind), of: readId(of) };
}

export function readWizardAddress({ table, step, import: id, kind }: Search): WizardAddress {
  return {
    table: typeof table === 'string' && table !== '' ? table : undefined,
    step: oneOf(wizardSteps, step),
    import: readId(id),
    kind: oneOf(changeKinds, kind),
  };
}

function oneOf<T extends string>(values: readonly T[], given: unknown): T | undefined {
  return values.find((value) => value === given);
}

function readId(value: unknown): number | undefined {
  const id = Number(value);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}
