import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import type { Deployment } from '../change-queries.ts';
import { RehearsalPanel } from '../rehearsal/rehearsal-panel.tsx';
import { useIsActing } from '../use-is-acting.ts';

/** Tries a deployment and rolls it back, to find what is in its way. */
export function DeploymentRehearsal({ deployment: { id, revision, can = [] } }: { deployment: Deployment }) {
  const isActing = useIsActing();
  const { data, error, isFetching, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['rehearsals', 'deployments', id, revision],
    queryFn: ({ signal }) => client.post('/deployments/{id}/rehearse', { params: { path: { id } }, signal }),
    enabled: !isActing && can.includes('deploy'),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return (
    <RehearsalPanel
      found={data && { conflicts: 0, violations: data.violations, warnings: [] }}
      error={error}
      isFetching={isFetching}
      checkedAt={dataUpdatedAt}
      isOld={false}
      onCheck={() => void refetch()}
    />
  );
}
