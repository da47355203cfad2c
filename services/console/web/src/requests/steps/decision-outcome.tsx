// What the last decision has done, and which rows went along with it.
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { decisionOf } from '../../parts/review/verb.ts';
import type { Outcome } from '../decisions/use-decisions.ts';
import { nameOf } from '../operation/operation-name.ts';
import { operationsKey } from '../queries.ts';
import { useRequestWords } from '../request-words.ts';
import { type OperationPages, windowSize } from '../review/next-start.ts';
import styles from './steps.module.css';

// More are a number: the list shows them.
const named = 5;

export function DecisionOutcome({ requestId, outcome }: { requestId: number; outcome: Outcome | undefined }) {
  const words = useRequestWords();
  const nameById = useNames(requestId, outcome);
  if (!outcome) return <p className={styles.outcome} role="status" />;
  const { verb, decided_count: count, also, also_count: alsoCount } = outcome;
  const decision = words.decision[decisionOf[verb]].name;
  const names = also.slice(0, named).map(({ operation_id, because_of }) => ({
    id: operation_id,
    name: nameById(operation_id),
    cause: nameById(because_of),
  }));
  const others = alsoCount - names.length;
  return (
    <p className={styles.outcome} role="status">
      <Plural value={count} one={`# change is ${decision} now.`} other={`# changes are ${decision} now.`} />{' '}
      {alsoCount > 0 && (
        <>
          <Trans>These went along, since they refer to each other:</Trans>{' '}
          {names.map(({ id, name, cause }, place) => (
            <span key={id}>
              {place > 0 && ', '}
              <Trans>
                {name} (with {cause})
              </Trans>
            </span>
          ))}
          {others > 0 && (
            <>
              {' '}
              <Plural value={others} one="and # more" other="and # more" />
            </>
          )}
        </>
      )}
    </p>
  );
}

/** The keys of operations by id: of those that are shown, or else those that are decided alike. */
function useNames(requestId: number, outcome: Outcome | undefined): (id: number) => string {
  const queries = useQueryClient();
  const windows = queries.getQueriesData<OperationPages>({ queryKey: [...operationsKey(requestId), 'window'] });
  const shown = windows.flatMap(([, pages]) => pages?.pages.flatMap(({ operations }) => operations) ?? []);
  const wanted = outcome?.also.slice(0, named).map(({ operation_id }) => operation_id) ?? [];
  const unknown = wanted.filter((id) => !shown.some((operation) => operation.id === id));
  const decision = decisionOf[outcome?.verb ?? 'accept'];
  const { data: alike } = useQuery({
    queryKey: [...operationsKey(requestId), 'names', decision, unknown],
    queryFn: ({ signal }) =>
      client.get('/change_requests/{id}/operations', {
        params: { path: { id: requestId }, query: { decision, startRow: 0, endRow: windowSize } },
        signal,
      }),
    enabled: unknown.length > 0,
  });
  return (id) => {
    const found = [...shown, ...(alike?.operations ?? [])].find((operation) => operation.id === id);
    return found ? nameOf(found) : `#${id}`;
  };
}
