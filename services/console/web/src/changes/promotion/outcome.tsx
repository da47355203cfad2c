// What came of a promotion, and what is left to do: its structures are drafts until deployed.
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { definitionsQuery } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import type { Promotion } from '../change-queries.ts';
import { Done } from '../done.tsx';
import { DeployDialog } from '../proposal/deploy-dialog.tsx';

export function Outcome({ promotion }: { promotion: Promotion }) {
  const { status, to_branch: to, rows, promoted_at: at, promoted_by: by, table_definitions: tables } = promotion;
  const [isOpen, setIsOpen] = useState(false);
  const { data: definitions } = useQuery({ ...definitionsQuery(to.id), enabled: status === 'promoted' });
  if (status !== 'promoted') return null;
  const ids = tables.map(({ target_table_definition_id: id }) => id);
  const waiting = definitions?.filter(({ id, needs_deployment }) => needs_deployment && ids.includes(id)) ?? [];
  return (
    <Done
      title={<Trans>Promoted to {to.name}</Trans>}
      by={by}
      at={at}
      note={rows
        ?.filter(({ created, updated, deleted }) => created + updated + deleted > 0)
        .map(({ table, created, updated, deleted }) => (
          <span key={table}>
            {tables.find(({ key }) => key === table)?.name ?? table}: +{created} ~{updated} −{deleted}
          </span>
        ))}
    >
      {waiting.length > 0 && (
        <Button kind="primary" onPress={() => setIsOpen(true)}>
          <Plural value={waiting.length} one="Deploy # table…" other="Deploy # tables…" />
        </Button>
      )}
      {isOpen && <DeployDialog branch={to} onClose={() => setIsOpen(false)} />}
    </Done>
  );
}
