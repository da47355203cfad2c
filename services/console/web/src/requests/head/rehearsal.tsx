// Whether the request would apply, as the last rehearsal has found; always in view.
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { CheckStatus } from '../../parts/review/check-status.tsx';
import { Verdict } from '../../parts/review/verdict.tsx';
import { Time } from '../../parts/time.tsx';
import { type ChangeRequest, operationsKey, requestKey } from '../queries.ts';
import styles from './head.module.css';
import { countProblems } from './problem-counts.ts';
import { RehearsalProblems } from './rehearsal-problems.tsx';

type RehearsalProps = {
  request: ChangeRequest;
  /** Whether it starts without being asked for. */
  isAutomatic: boolean;
};

export function Rehearsal({ request, isAutomatic }: RehearsalProps) {
  const queries = useQueryClient();
  const { id } = request;
  const { data, error, isFetching, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['rehearsals', id],
    queryFn: async ({ signal }) => {
      const found = await client.post('/change_requests/{id}/rehearse', { params: { path: { id } }, signal });
      // The operations keep what was found: it is read again when there is, or was, something.
      if (found.problem_count > 0 || request.counts.with_problems > 0) {
        void queries.invalidateQueries({ queryKey: operationsKey(id) });
        void queries.invalidateQueries({ queryKey: requestKey(id), exact: true });
      }
      return found;
    },
    enabled: isAutomatic,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const isOutdated = data && data.revision !== request.revision;
  return (
    <div className={styles.rehearsal}>
      <CheckStatus
        isFetching={isFetching}
        error={error}
        checking={<Trans>Checking what applying it would do…</Trans>}
        unchecked={<Trans>Not checked yet whether it would apply</Trans>}
      >
        {data && (
          <>
            <Findings rehearsal={data} />
            <span className={styles.quiet}>
              {isOutdated ? (
                <Trans>
                  checked <Time instant={new Date(dataUpdatedAt).toISOString()} />, before the latest changes
                </Trans>
              ) : (
                <Trans>
                  checked <Time instant={new Date(dataUpdatedAt).toISOString()} />
                </Trans>
              )}
            </span>
          </>
        )}
      </CheckStatus>
      {data && data.problem_count > 0 && <RehearsalProblems request={request} rehearsal={data} />}
      <Button isDisabled={isFetching} onPress={() => void refetch()}>
        {data || error ? <Trans>Check again</Trans> : <Trans>Check</Trans>}
      </Button>
    </div>
  );
}

function Findings({ rehearsal }: { rehearsal: Schemas['ChangeRequestRehearsal'] }) {
  if (rehearsal.problem_count === 0)
    return (
      <Verdict isGood>
        <Trans>Would apply cleanly</Trans>
      </Verdict>
    );
  const counts = countProblems(rehearsal);
  return (
    <Verdict isGood={false}>
      {counts ? (
        <>
          <Plural value={counts.conflicts} one="# conflict" other="# conflicts" />
          {' · '}
          <Plural value={counts.others} one="# problem" other="# problems" />
        </>
      ) : (
        <Plural value={rehearsal.problem_count} one="# problem or conflict" other="# problems and conflicts" />
      )}
    </Verdict>
  );
}
