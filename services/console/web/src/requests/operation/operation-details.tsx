// What is to be said about one operation: conflicts, problems, why it was decided so, and comments.
import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import type { CellFormats } from '../../cells/cell-text.ts';
import type { DiffColumn } from '../../diff/diff-columns.ts';
import { Person } from '../../parts/person.tsx';
import { ReasonForm } from '../../parts/review/reason-form.tsx';
import { branchOf } from '../branch-of.ts';
import type { ChangeRequest, Comment, Operation } from '../queries.ts';
import { useRequestWords } from '../request-words.ts';
import { CommentForm, CommentList } from '../talk/comments.tsx';
import { Conflict } from './conflict.tsx';
import styles from './operation.module.css';
import type { Asked, May, RowActs } from './row-acts.ts';

type OperationDetailsProps = {
  request: ChangeRequest;
  operation: Operation;
  /** The key of its table, when it can be opened. */
  tableKey: string | undefined;
  columns: DiffColumn[];
  formats: CellFormats;
  comments: Comment[];
  may: May;
  isOpen: boolean;
  /** Counted up when a key asks for the field of a comment. */
  commentAsked: number;
  asked: Asked | undefined;
  acts: RowActs;
};

export function OperationDetails(props: OperationDetailsProps) {
  const { request, operation, isOpen, asked, acts } = props;
  return (
    <div className={styles.detailsOf}>
      {asked && 'verb' in asked && (
        <ReasonForm
          key={asked.verb}
          verb={asked.verb}
          isRequired={request.policy.comment_required}
          onAnswer={(reason) => acts.decideFor(operation.id, asked.verb, reason)}
          onCancel={() => acts.ask(undefined)}
        />
      )}
      {isOpen && <Facts {...props} />}
    </div>
  );
}

function Facts(props: OperationDetailsProps) {
  const { request, operation, tableKey, comments, may, commentAsked, acts } = props;
  const { svc_sk: row, problems, conflict } = operation;
  const others = problems.filter(({ code }) => !(conflict && code === 'version_conflict'));
  return (
    <>
      <Conflict {...props} maySettle={may === 'edit'} acts={acts} />
      {others.length > 0 && (
        <ul className={styles.problems}>
          {others.map(({ code, column, message }) => (
            <li key={`${code}:${column}:${message}`}>{message}</li>
          ))}
        </ul>
      )}
      <DecidedBy operation={operation} />
      {row !== null && tableKey !== undefined && (
        <p>
          <Link to="/t/$key" params={{ key: tableKey }} search={{ branch: branchOf(request), row }}>
            <Trans>Open the row as it is now</Trans>
          </Link>
        </p>
      )}
      <CommentList comments={comments} />
      <CommentForm requestId={request.id} operationId={operation.id} asked={commentAsked} />
    </>
  );
}

function DecidedBy({ operation: { decision, decided_by, comment } }: { operation: Operation }) {
  const words = useRequestWords();
  if (decision === 'undecided') return null;
  const { name } = words.decision[decision];
  return (
    <p>
      <Trans>
        <strong>{name}</strong> by <Person id={decided_by} />
      </Trans>
      {comment && `: ${comment}`}
    </p>
  );
}
