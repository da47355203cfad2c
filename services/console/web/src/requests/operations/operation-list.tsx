// The list of operations that are loaded: as a table, or as cards on a phone; with its keys.
import { useEffect, useEffectEvent, useState } from 'react';
import { More } from '../../diff/more.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import { OperationCard } from '../operation/operation-card.tsx';
import { OperationDetails } from '../operation/operation-details.tsx';
import type { OperationItemProps } from '../operation/operation-row.tsx';
import type { Operation } from '../queries.ts';
import { isFound } from '../review/review-view.ts';
import { useReviewKeys } from '../review/use-review-keys.ts';
import { DiffTable } from './diff-table.tsx';
import { ListLine } from './list-line.tsx';
import type { OperationListProps, Windows } from './list-props.ts';
import styles from './operations.module.css';
import { SelectionBar } from './selection-bar.tsx';
import { TakeOutDialog } from './take-out-dialog.tsx';
import { useOperationActs } from './use-operation-acts.ts';
import { useRowMovement } from './use-row-movement.ts';

export function OperationList(props: OperationListProps) {
  const { request, table, view, change, may, filter, operations, rowCount, windows, columns, formats } = props;
  const { comments, isNarrow } = props;
  const fetchMore = async () => {
    if (!windows.hasNextPage) return operations;
    const { data } = await windows.fetchNextPage();
    return data?.pages.flatMap((page) => page.operations) ?? operations;
  };
  const movement = useRowMovement({ operations, fetchMore });
  const acting = useOperationActs(props, movement);
  const { selection, asked, acts } = acting;
  useReviewKeys(acting.keys);
  useOpened(view.operation, { operations, windows, goTo: movement.goTo });
  const commentsOf = Map.groupBy(comments, ({ operation_id }) => operation_id);
  const items = operations.map(
    (operation): OperationItemProps => ({
      operation,
      columns,
      areAllShown: view.columns === 'all',
      formats,
      may,
      comments: commentsOf.get(operation.id)?.length ?? 0,
      isCurrent: operation.id === movement.current,
      isSelected: selection.has(operation.id),
      isOpen: operation.id === view.operation,
      acts,
    }),
  );
  const detailsOf = (id: number) => {
    if (id !== view.operation && id !== asked?.id) return null;
    const operation = operations.find((one) => one.id === id);
    if (!operation) return null;
    return (
      <OperationDetails
        request={request}
        operation={operation}
        tableKey={props.tableKey}
        columns={[...columns.keys, ...columns.changed, ...columns.unchanged]}
        formats={formats}
        comments={commentsOf.get(id) ?? []}
        may={may}
        isOpen={id === view.operation}
        commentAsked={acting.commentAsked}
        asked={asked?.id === id ? asked : undefined}
        acts={acts}
      />
    );
  };
  const left = rowCount - operations.filter((operation) => !isFound(operation, filter)).length;
  const end = <More shown={operations.length} total={rowCount} windows={windows} />;
  return (
    <>
      {selection.count === 0 ? (
        <ListLine
          count={left}
          unchanged={columns.unchanged.length}
          areAllShown={view.columns === 'all'}
          onAllShown={(areShown) => change({ columns: areShown ? 'all' : undefined }, true)}
        />
      ) : (
        <SelectionBar
          may={may}
          count={selection.isAll ? left : selection.count}
          more={selection.isAll ? undefined : left}
          isReasonRequired={request.policy.comment_required}
          onAll={selection.selectAll}
          onClear={selection.clear}
          onDecide={acting.decideSelected}
          onTakeOut={acting.takeSelectedOut}
        />
      )}
      <Refusal error={acting.settleError} />
      {isNarrow ? (
        <div className={styles.cards}>
          {items.map((item) => (
            <div key={item.operation.id}>
              <OperationCard {...item} />
              {detailsOf(item.operation.id)}
            </div>
          ))}
          {end}
        </div>
      ) : (
        <DiffTable
          label={table.name}
          items={items}
          columns={columns}
          areAllShown={view.columns === 'all'}
          selected={may && selection.shown}
          onSelectShown={selection.toggleShown}
          detailsOf={detailsOf}
          end={end}
        />
      )}
      {acting.takenOut && <TakeOutDialog {...acting.takenOut} />}
    </>
  );
}

type Opened = { operations: Operation[]; windows: Windows; goTo: (id: number) => void };

/** Brings the operation of the address into view: operations come in the order of their ids. */
function useOpened(id: number | undefined, { operations, windows, goTo }: Opened): void {
  const [shown, setShown] = useState<number>();
  const isLoaded = operations.some((operation) => operation.id === id);
  const isFurther = id !== undefined && (operations.at(-1)?.id ?? 0) < id && windows.hasNextPage;
  const find = useEffectEvent(() => {
    if (id === undefined || id === shown) return;
    if (isLoaded) {
      setShown(id);
      if (!document.activeElement?.closest('[data-operation], tr, article')) goTo(id);
    } else if (isFurther && !windows.isFetchingNextPage) void windows.fetchNextPage();
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each window may have brought it.
  useEffect(() => find(), [id, isLoaded, operations.length]);
}
