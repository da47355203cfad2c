// Which rows of a promotion are shown, as its address has it.
import { readId } from '../../address/view.ts';
import { type ChangeKind, changeKinds } from '../../diff/change-kinds.ts';

export type PromotionView = {
  /** The id of the definition on the source. */
  table?: number | undefined;
  kind?: ChangeKind | undefined;
  /** Only rows with a conflict. */
  conflict?: true | undefined;
};

/** The view of an address. What cannot be read is left out. */
export function readPromotionView({ table, kind, conflict }: Record<string, unknown>): PromotionView {
  return {
    table: readId(table),
    kind: changeKinds.find((one) => one === kind),
    conflict: conflict === 'true' || conflict === true ? true : undefined,
  };
}
