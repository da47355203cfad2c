// What is done to operations: by buttons, by keys, and to all that are selected.
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Verb } from '../../parts/review/verb.ts';
import { isSelected, isWhole, nothing, type Selection, toggle, toggleShown } from '../decisions/selection.ts';
import type { Asked, RowActs, Settled } from '../operation/row-acts.ts';
import type { ReviewKey } from '../review/review-keys.ts';
import type { OperationListProps } from './list-props.ts';
import type { useRowMovement } from './use-row-movement.ts';
import { useSettle } from './use-settle.ts';

export function useOperationActs(
  { request, table, view, change, may, decisions, changed, operations, filter }: OperationListProps,
  movement: ReturnType<typeof useRowMovement>,
) {
  const [selection, setSelection] = useState<Selection>(nothing);
  const [asked, setAsked] = useState<Asked>();
  const [commentAsked, setCommentAsked] = useState(0);
  const [leaving, setLeaving] = useState<number[]>();
  const { settle, takeOut } = useSettle(request.id, changed);
  const order = useMemo(() => operations.map(({ id }) => id), [operations]);
  const orderNow = useRef(order);
  const goToNow = useRef(movement.goTo);
  useEffect(() => {
    orderNow.current = order;
    goToNow.current = movement.goTo;
  });
  const { decide } = decisions;
  const { setCurrent } = movement;
  const { mutate: settleSome } = settle;
  const acts = useMemo(
    (): RowActs => ({
      setCurrent,
      open: (id) => {
        setCommentAsked(0);
        change({ operation: id }, true);
      },
      select: (id, isRange) => setSelection((before) => toggle(before, id, { order: orderNow.current, isRange })),
      decide: (id, verb) => {
        setCurrent(id);
        if (verb === 'reject' || verb === 'return') setAsked({ id, verb });
        else decide({ meant: { ids: [id] }, verb });
      },
      decideFor: (id, verb, comment) => {
        setAsked(undefined);
        goToNow.current(id);
        decide({ meant: { ids: [id] }, verb, comment });
      },
      settle: (settled) => {
        setAsked(undefined);
        goToNow.current(settled.id);
        settleSome([settled]);
      },
      ask: (next) => {
        setAsked((before) => {
          if (next === undefined && before) goToNow.current(before.id);
          return next;
        });
      },
      takeOut: setLeaving,
    }),
    [change, decide, settleSome, setCurrent],
  );
  const selectedIds = selection.kind === 'all' ? order : [...selection.ids];
  const shown = isWhole(selection, order) ? 'all' : selectedIds.length > 0 ? 'some' : 'none';
  const current = operations.find(({ id }) => id === movement.current);
  return {
    acts,
    asked,
    commentAsked,
    settleError: settle.error,
    selection: {
      has: (id: number) => isSelected(selection, id),
      count: selectedIds.length,
      isAll: selection.kind === 'all',
      shown: shown as 'all' | 'some' | 'none',
      selectAll: () => setSelection({ kind: 'all' }),
      clear: () => setSelection(nothing),
      toggleShown: () => setSelection((before) => toggleShown(before, order)),
    },
    decideSelected: (verb: Verb, comment: string) => {
      const meant = selection.kind === 'all' ? { tableId: table.id, filter } : { ids: selectedIds };
      decide({ meant, verb, comment });
      setSelection(nothing);
    },
    takeSelectedOut: () => setLeaving(selectedIds),
    takenOut: leaving && {
      count: leaving.length,
      error: takeOut.error,
      isPending: takeOut.isPending,
      onYes: () =>
        takeOut.mutate(leaving, {
          onSuccess: () => {
            setLeaving(undefined);
            setSelection(nothing);
          },
        }),
      onClose: () => setLeaving(undefined),
    },
    keys: {
      'next row': movement.toNext,
      'previous row': movement.toPrevious,
      'next undecided': movement.toNextUndecided,
      'previous undecided': movement.toPreviousUndecided,
      ...(current && {
        open: () => acts.open(view.operation === current.id ? undefined : current.id),
        comment: () => {
          if (view.operation !== current.id) change({ operation: current.id }, true);
          setCommentAsked((times) => times + 1);
        },
      }),
      ...(current && may === 'decide' && deciding(current.id, acts)),
      ...(current?.conflict && may === 'edit' && settling(current, acts)),
    } satisfies Partial<Record<ReviewKey, () => void>>,
  };
}

function deciding(id: number, acts: RowActs) {
  return {
    accept: () => acts.decide(id, 'accept'),
    reject: () => acts.decide(id, 'reject'),
    return: () => acts.decide(id, 'return'),
  };
}

/** The keys settle the first conflict that is left. */
function settling({ id, conflict }: OperationListProps['operations'][number], acts: RowActs) {
  const column = Object.keys(conflict?.columns ?? {})[0];
  const settled = (side: Settled['side']) => () => acts.settle({ id, column, side });
  return {
    'first side': settled('mine'),
    'second side': settled('theirs'),
    ...(column !== undefined && {
      'third side': () => {
        acts.open(id);
        acts.ask({ id, column });
      },
    }),
  };
}
