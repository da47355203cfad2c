// Which rows of a promotion are shown, as its address has it.
import { readId } from '../../../address/view.ts';
import { type ChangeKind, changeKinds } from '../../../diff/change-kinds.ts';

export type PromotionView = {
  /** The id of the definition on the source. */
  table?: number | undefined;
  kind?: ChangeKind | undefined;
  /** Only rows with a conflict. */
  conflict?: true | undefined;
  /** Only rows that are rejected. */
  rejected?: true | undefined;
};

const isTrue = (value: unknown): true | undefined => (value === 'true' || value === true ? true : undefined);

/** The view of an address. What cannot be read is left out. */
export function readPromotionView({ table, kind, conflict, rejected }: Record<string, unknown>): PromotionView {
  return {
    table: readId(table),
    kind: changeKinds.find((one) => one === kind),
    conflict: isTrue(conflict),
    rejected: isTrue(rejected),
  };
}
