import { Plural, Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import type { ChangeRequest } from '../queries.ts';
import styles from './head.module.css';

type RehearsalProblemsProps = { request: ChangeRequest; rehearsal: Schemas['ChangeRequestRehearsal'] };

/** What is in the way, in the server's words, each with a link to its row. */
export function RehearsalProblems({ request, rehearsal }: RehearsalProblemsProps) {
  const { problems, problem_count } = rehearsal;
  const shown = problems.length;
  return (
    <details className={styles.problems}>
      <summary>
        <Plural value={problem_count} one="What is in the way" other="What is in the way: # reasons" />
      </summary>
      <ul>
        {problems.map(({ operation_id, table_definition_id, table, code, message, column }) => (
          <li key={`${operation_id}:${code}:${column}:${message}`}>
            {table && `${table}: `}
            {message}{' '}
            {operation_id > 0 && (
              <Link
                to="/requests/$id"
                params={{ id: String(request.id) }}
                search={({ branch }) => ({
                  branch,
                  table: table_definition_id,
                  problem: true as const,
                  operation: operation_id,
                })}
              >
                <Trans>Show the row</Trans>
              </Link>
            )}
          </li>
        ))}
      </ul>
      {problem_count > shown && (
        <p>
          <Trans>
            These are {shown} of {problem_count}.
          </Trans>
        </p>
      )}
    </details>
  );
}
