// What an application has written, and what is left of the request.
import { Plural, Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { Schemas } from '../../api/client.ts';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { branchOf } from '../branch-of.ts';
import type { ChangeRequest } from '../queries.ts';
import styles from './head.module.css';

export function Applied({ request }: { request: ChangeRequest }) {
  const { applied, applied_at, applied_by, continued_by_id, table_definitions } = request;
  if (!applied) return null;
  return (
    <section className={styles.applied} role="status">
      <p>
        <CircleCheck size={16} aria-hidden />{' '}
        <strong>
          <Trans>
            Applied by <Person id={applied_by} />
          </Trans>
        </strong>
        {applied_at && (
          <>
            {' '}
            <Time instant={applied_at} />
          </>
        )}
      </p>
      <ul>
        {applied.map((table) => (
          <li key={table.table_definition_id}>
            <Link to="/t/$key" params={{ key: table.key }} search={{ branch: branchOf(request) }}>
              {table_definitions.find(({ id }) => id === table.table_definition_id)?.name ?? table.key}
            </Link>
            {': '}
            <Written table={table} />
          </li>
        ))}
      </ul>
      {applied.length === 0 && (
        <p>
          <Trans>No row was changed.</Trans>
        </p>
      )}
      {continued_by_id !== null && (
        <p>
          <Link to="/requests/$id" params={{ id: String(continued_by_id) }} search={({ branch }) => ({ branch })}>
            <Trans>What was returned is the draft #{continued_by_id}</Trans>
          </Link>
        </p>
      )}
    </section>
  );
}

function Written({ table }: { table: Schemas['AppliedChanges'] }) {
  const { created, updated, deleted, restored } = table;
  const parts = [
    created > 0 && <Plural key="created" value={created} one="# new row" other="# new rows" />,
    updated > 0 && <Plural key="updated" value={updated} one="# row changed" other="# rows changed" />,
    deleted > 0 && <Plural key="deleted" value={deleted} one="# row deleted" other="# rows deleted" />,
    restored > 0 && <Plural key="restored" value={restored} one="# row restored" other="# rows restored" />,
  ].filter(Boolean);
  if (parts.length === 0) return <Trans>no row changed</Trans>;
  return parts.map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts stay where they are.
    <span key={place}>
      {place > 0 && ' · '}
      {part}
    </span>
  ));
}
