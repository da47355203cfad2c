// How far a branch and its parent have diverged, in words.
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactElement } from 'react';
import { type DivergedTable, divergenceQuery } from './branch-query.ts';

type BranchDivergenceProps = { branch: { id: number }; parent: { name: string } };

/** Of all tables: `2 tables, 14 rows ahead · 1 table behind`. */
export function BranchDivergence({ branch, parent }: BranchDivergenceProps) {
  const { data } = useQuery(divergenceQuery(branch.id));
  if (!data) return null;
  const { ahead, behind } = data;
  if (ahead.tables === 0 && behind.tables === 0) return <Trans>same as {parent.name}</Trans>;
  return (
    <Parts
      parts={[
        ahead.tables > 0 && (
          <Trans>
            <Plural value={ahead.tables} one="# table" other="# tables" />, <Rows count={ahead.rows} /> ahead
          </Trans>
        ),
        behind.tables > 0 && (
          <Trans>
            <Plural value={behind.tables} one="# table" other="# tables" />, <Rows count={behind.rows} /> behind
          </Trans>
        ),
      ]}
    />
  );
}

const Rows = ({ count }: { count: number }) => <Plural value={count} one="# row" other="# rows" />;

/** Of one table: `structure ahead · 3 rows behind`. */
export function TableDivergence({ table: { ahead, behind } }: { table: DivergedTable }) {
  const parts = [
    ahead.definition && <Trans>structure ahead</Trans>,
    (ahead.rows ?? 0) > 0 && <Plural value={ahead.rows ?? 0} one="# row ahead" other="# rows ahead" />,
    behind.definition && <Trans>structure behind</Trans>,
    (behind.rows ?? 0) > 0 && <Plural value={behind.rows ?? 0} one="# row behind" other="# rows behind" />,
    ahead.rows === null && <Trans>rows not compared</Trans>,
  ];
  return parts.some(Boolean) ? <Parts parts={parts} /> : <Trans>same rows</Trans>;
}

function Parts({ parts }: { parts: (ReactElement | false)[] }) {
  return parts
    .filter((part) => part !== false)
    .map((part, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts have an order and no state.
      <Fragment key={place}>
        {place > 0 && ' · '}
        {part}
      </Fragment>
    ));
}
