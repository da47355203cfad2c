// The tables of both sides, and the differences of one of them.
import { Trans, useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useBranch } from '../address/use-branch.ts';
import type { Table } from '../api/queries.ts';
import { AttributeChanges } from '../changes/structure/attribute-changes.tsx';
import { ColumnChanges } from '../changes/structure/column-changes.tsx';
import type { ChangeKind } from '../diff/change-kinds.ts';
import reviewStyles from '../parts/review/review.module.css';
import { EmptyState } from '../parts/states.tsx';
import styles from './compare.module.css';
import type { CompareView, Side } from './compare-view.ts';
import { DifferenceCounts } from './rows/difference-counts.tsx';
import { DifferingRows } from './rows/differing-rows.tsx';
import { type ComparedTable, compareTables } from './structure/structure-diff.ts';
import { useStructureWord } from './structure/use-structure-word.ts';

// Of more tables only the chosen one is counted: each takes a comparison of its rows.
const countedTables = 20;

type ComparisonProps = {
  left: Side;
  right: Side;
  leftTables: Table[];
  rightTables: Table[];
  view: CompareView;
  onKind: (kind: ChangeKind | undefined) => void;
};

export function Comparison({ left, right, leftTables, rightTables, view, onKind }: ComparisonProps) {
  const { t } = useLingui();
  const tables = useMemo(() => compareTables(leftTables, rightTables), [leftTables, rightTables]);
  const table = tables.find(({ key }) => key === view.table) ?? tables[0];
  if (!table)
    return (
      <EmptyState title={<Trans>Neither side has a table that you may view</Trans>}>
        <Trans>Tables are compared once they are deployed.</Trans>
      </EmptyState>
    );
  return (
    <div className={reviewStyles.layout}>
      <nav className={reviewStyles.tables} aria-label={t`Tables`}>
        <ul>
          {tables.map((one) => (
            <li key={one.key} data-chosen={one === table || undefined}>
              <TableLink
                table={one}
                left={left}
                right={right}
                isChosen={one === table}
                isCounted={one === table || tables.length <= countedTables}
              />
            </li>
          ))}
        </ul>
      </nav>
      <section className={styles.of} aria-labelledby="table-title">
        <h2 id="table-title">{table.name}</h2>
        <OneTable key={table.key} table={table} left={left} right={right} kind={view.kind} onKind={onKind} />
      </section>
    </div>
  );
}

type SideNames = { left: string; right: string };

function useSideNames(left: Side, right: Side): SideNames {
  const { branches } = useBranch();
  const nameOf = ({ branchId }: Side) => branches.find(({ id }) => id === branchId)?.name ?? `#${branchId}`;
  return { left: nameOf(left), right: nameOf(right) };
}

type TableLinkProps = { table: ComparedTable; left: Side; right: Side; isChosen: boolean; isCounted: boolean };

function TableLink({ table, left, right, isChosen, isCounted }: TableLinkProps) {
  const wordOf = useStructureWord(useSideNames(left, right));
  const isOfOneBranch = left.branchId === right.branchId;
  return (
    <Link
      to="/compare"
      search={(search) => ({ ...search, table: table.key, kind: undefined })}
      resetScroll={false}
      activeProps={{}}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span>{table.name}</span>
      <span className={reviewStyles.count}>
        {!isOfOneBranch && wordOf(table.diff)}
        {table.left && table.right && (
          <>
            {!isOfOneBranch && ' · '}
            <DifferenceCounts compared={{ tableId: table.right.id, left, right }} isEnabled={isCounted} />
          </>
        )}
      </span>
    </Link>
  );
}

type OneTableProps = {
  table: ComparedTable;
  left: Side;
  right: Side;
  kind: ChangeKind | undefined;
  onKind: (kind: ChangeKind | undefined) => void;
};

function OneTable({ table, left, right, kind, onKind }: OneTableProps) {
  const names = useSideNames(left, right);
  const { left: onLeft, right: onRight, diff } = table;
  if (!onLeft || !onRight) {
    const [has, lacks] = onLeft ? [names.left, names.right] : [names.right, names.left];
    return (
      <EmptyState
        title={
          <Trans>
            It is on {has}, and not on {lacks}
          </Trans>
        }
      />
    );
  }
  return (
    <>
      {left.branchId !== right.branchId && <Structure diff={diff} />}
      <section className={styles.part} aria-labelledby="rows-title">
        <h3 id="rows-title">
          <Trans>Rows</Trans>
        </h3>
        <DifferingRows compared={{ tableId: onRight.id, left, right }} table={onRight} kind={kind} onKind={onKind} />
      </section>
    </>
  );
}

function Structure({ diff }: { diff: ComparedTable['diff'] }) {
  const { t } = useLingui();
  return (
    <section className={styles.part} aria-labelledby="structure-title">
      <h3 id="structure-title">
        <Trans>Structure</Trans>
      </h3>
      {diff.change === 'unchanged' ? (
        <p className={reviewStyles.count}>
          <Trans>The structures are the same, as they are deployed.</Trans>
        </p>
      ) : (
        <div className={styles.structure}>
          <AttributeChanges attributes={diff.attributes} />
          <ColumnChanges label={t`Columns of ${diff.name}`} columns={diff.columns} />
        </div>
      )}
    </section>
  );
}
