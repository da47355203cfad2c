// What others have changed since an operation was proposed, cell by cell: its creator chooses.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/queries.ts';
import type { CellFormats } from '../../cells/cell-text.ts';
import { Value } from '../../diff/cell-value.tsx';
import diffStyles from '../../diff/diff.module.css';
import type { DiffColumn } from '../../diff/diff-columns.ts';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import type { ChangeRequest, Operation } from '../queries.ts';
import styles from './conflict.module.css';
import { OwnValue } from './own-value.tsx';
import type { Asked, RowActs } from './row-acts.ts';

type ConflictProps = {
  request: ChangeRequest;
  operation: Operation;
  columns: DiffColumn[];
  formats: CellFormats;
  maySettle: boolean;
  asked: Asked | undefined;
  acts: RowActs;
};

export function Conflict(props: ConflictProps) {
  const { request, operation, maySettle } = props;
  const { data: me } = useQuery(meQuery);
  const { conflict } = operation;
  if (!conflict) return null;
  const isMine = request.created_by !== null && request.created_by === me?.user?.id;
  return (
    <section className={styles.conflict}>
      <h3>
        {conflict.row ? (
          <Trans>Others have changed or deleted this row since</Trans>
        ) : (
          <Trans>Others have changed the same cells since</Trans>
        )}
      </h3>
      {conflict.row ? maySettle && <RowSides {...props} /> : <CellSides {...props} />}
      {!maySettle && request.status !== 'applied' && (
        <p className={styles.quiet}>
          {isMine ? (
            <Trans>You can settle this once the request is withdrawn, or changes are requested.</Trans>
          ) : (
            <Trans>Its creator can settle this once changes are requested.</Trans>
          )}
        </p>
      )}
    </section>
  );
}

function RowSides({ operation: { id }, acts }: ConflictProps) {
  return (
    <div className={styles.sides}>
      <Button onPress={() => acts.settle({ id, column: undefined, side: 'mine' })}>
        <kbd>1</kbd> <Trans>Keep my change</Trans>
      </Button>
      <Button onPress={() => acts.settle({ id, column: undefined, side: 'theirs' })}>
        <kbd>2</kbd> <Trans>Leave the row to others: take my change out</Trans>
      </Button>
    </div>
  );
}

function CellSides({ operation, columns, formats, maySettle, asked, acts }: ConflictProps) {
  const { id, conflict } = operation;
  return (
    <div className={styles.scroll}>
      <table className={styles.sideTable}>
        <thead>
          <tr>
            <th scope="col">
              <Trans>Column</Trans>
            </th>
            <th scope="col">
              <Trans>Before</Trans>
            </th>
            <th scope="col">{maySettle ? <Trans>Yours</Trans> : <Trans>Proposed</Trans>}</th>
            <th scope="col">{maySettle ? <Trans>Theirs, there now</Trans> : <Trans>There now</Trans>}</th>
            {maySettle && (
              <th scope="col">
                <Trans>Which one holds</Trans>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {Object.entries(conflict?.columns ?? {}).map(([name, { base, proposed, current }], place) => {
            const column = columns.find((one) => one.name === name)?.column;
            const value = (of: unknown) => <Value value={of} column={column} formats={formats} />;
            // The keys act on the first conflict of the row that is left.
            const key = (text: string) => place === 0 && <kbd>{text}</kbd>;
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{value(base)}</td>
                <td>
                  <ins className={diffStyles.after}>{value(proposed)}</ins>
                </td>
                <td>{value(current)}</td>
                {maySettle && (
                  <td>
                    {asked && 'column' in asked && asked.column === name ? (
                      <OwnValue id={id} name={name} column={column} start={proposed} acts={acts} />
                    ) : (
                      <div className={styles.sides}>
                        <Button onPress={() => acts.settle({ id, column: name, side: 'mine' })}>
                          {key('1')} <Trans>Yours</Trans>
                          <span className={pageStyles.hidden}>: {name}</span>
                        </Button>
                        <Button onPress={() => acts.settle({ id, column: name, side: 'theirs' })}>
                          {key('2')} <Trans>Theirs</Trans>
                          <span className={pageStyles.hidden}>: {name}</span>
                        </Button>
                        <Button onPress={() => acts.ask({ id, column: name })}>
                          {key('3')} <Trans>Another…</Trans>
                          <span className={pageStyles.hidden}>: {name}</span>
                        </Button>
                      </div>
                    )}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
