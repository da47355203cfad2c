// What came of a promotion, and what is left to do: its structures are drafts until deployed.
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { useState } from 'react';
import { definitionsQuery } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import type { Promotion } from '../change-queries.ts';
import styles from '../changes.module.css';
import { DeployDialog } from '../proposal/deploy-dialog.tsx';

export function Outcome({ promotion }: { promotion: Promotion }) {
  const { status, to_branch: to, rows, promoted_at: at, promoted_by: by, table_definitions: tables } = promotion;
  const [isOpen, setIsOpen] = useState(false);
  const { data: definitions } = useQuery({ ...definitionsQuery(to.id), enabled: status === 'promoted' });
  if (status !== 'promoted') return null;
  const ids = tables.map(({ target_table_definition_id: id }) => id);
  const waiting = definitions?.filter(({ id, needs_deployment }) => needs_deployment && ids.includes(id)) ?? [];
  return (
    <div className={`${styles.notice} ${styles.done}`}>
      <p className={styles.verdict}>
        <strong className={styles.ok}>
          <CircleCheck size={16} aria-hidden /> <Trans>Promoted to {to.name}</Trans>
        </strong>
        <span className={styles.quiet}>
          <Person id={by} />
          {at && (
            <>
              {' · '}
              <Time instant={at} />
            </>
          )}
        </span>
        {rows
          ?.filter(({ created, updated, deleted }) => created + updated + deleted > 0)
          .map(({ table, created, updated, deleted }) => (
            <span key={table}>
              {tables.find(({ key }) => key === table)?.name ?? table}: +{created} ~{updated} −{deleted}
            </span>
          ))}
      </p>
      {waiting.length > 0 && (
        <Button kind="primary" onPress={() => setIsOpen(true)}>
          <Plural value={waiting.length} one="Deploy # table…" other="Deploy # tables…" />
        </Button>
      )}
      {isOpen && <DeployDialog branch={to} onClose={() => setIsOpen(false)} />}
    </div>
  );
}
