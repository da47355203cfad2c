import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { applicationsQuery } from '../../admin/queries.ts';
import { useIsAdministrator } from '../../admin/use-is-administrator.ts';
import tableStyles from '../../parts/blocks/scrolled-table.module.css';
import { ScrolledTable } from '../../parts/blocks/scrolled-table.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import { Person } from '../../parts/person.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { type Usage, usageQuery } from './queries.ts';
import { sumUsage } from './usage-sums.ts';

/** The applications and people whose calls used the rows of a table, the busiest first. */
export function Users({ tableId }: { tableId: number }) {
  const { t } = useLingui();
  const { count } = useNumbers();
  const { data, error, refetch } = useQuery(usageQuery(tableId));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={3} />;
  if (data.consumers.length === 0)
    return (
      <p>
        <Trans>Its rows were not used.</Trans>
      </p>
    );
  return (
    <ScrolledTable label={t`Who used the rows`}>
      <thead>
        <tr>
          <th scope="col">
            <Trans>Application or person</Trans>
          </th>
          <th scope="col" className={tableStyles.number}>
            <Trans>Reads</Trans>
          </th>
          <th scope="col" className={tableStyles.number}>
            <Trans>Writes</Trans>
          </th>
          <th scope="col" className={tableStyles.number}>
            <Trans>Exports</Trans>
          </th>
          <th scope="col">
            <Trans>Last day</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {data.consumers.map((consumer) => {
          const { read, write, export: exports, lastDay } = sumUsage(consumer);
          return (
            <tr key={`${consumer.application_id} ${consumer.user_id}`}>
              <th scope="row">
                <Consumer {...consumer} />
              </th>
              <td className={tableStyles.number}>{count(read)}</td>
              <td className={tableStyles.number}>{count(write)}</td>
              <td className={tableStyles.number}>{count(exports)}</td>
              <td>{lastDay}</td>
            </tr>
          );
        })}
      </tbody>
    </ScrolledTable>
  );
}

function Consumer({ application_id, user_id }: Usage['consumers'][number]) {
  const isAdministrator = useIsAdministrator();
  const { data: applications } = useQuery({ ...applicationsQuery, enabled: Boolean(isAdministrator) });
  const application = applications?.find(({ id }) => id === application_id)?.name;
  if (application_id === null) return <Person id={user_id} />;
  const name = application ?? <Trans>Application {application_id}</Trans>;
  if (user_id === null) return name;
  return (
    <Trans>
      <Person id={user_id} /> with {name}
    </Trans>
  );
}
