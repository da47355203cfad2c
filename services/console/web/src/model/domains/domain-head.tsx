// The heading of a domain in the list of tables, with what can be done to it.
import { useLingui } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { EllipsisVertical, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ChoiceMenu } from '../../parts/choice-menu.tsx';
import type { Domain } from '../definition/queries.ts';
import { DeleteDomain } from './delete-domain.tsx';
import { DomainDialog } from './domain-dialog.tsx';
import styles from './domains.module.css';

/** `domain`: undefined while only its name is known. */
export function DomainHead({ name, domain }: { name: string; domain: Domain | undefined }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const close = () => setOpened(undefined);
  return (
    <div className={styles.head}>
      <h2>{name}</h2>
      <p>{domain?.description}</p>
      {domain && (
        <ChoiceMenu
          label={t`Domain ${name}`}
          groups={[]}
          actions={[
            {
              id: 'table',
              name: t`New table in it`,
              icon: <Plus size={16} aria-hidden />,
              onAct: () => void navigate({ to: '/tables/new', search: { domain: domain.id } }),
            },
            {
              id: 'edit',
              name: t`Change…`,
              icon: <Pencil size={16} aria-hidden />,
              onAct: () => setOpened('edit'),
            },
            {
              id: 'delete',
              name: t`Delete…`,
              icon: <Trash2 size={16} aria-hidden />,
              onAct: () => setOpened('delete'),
            },
          ]}
        >
          <EllipsisVertical size={16} aria-hidden />
        </ChoiceMenu>
      )}
      {domain && opened === 'edit' && <DomainDialog domain={domain} onClose={close} />}
      {domain && opened === 'delete' && <DeleteDomain domain={domain} onClose={close} />}
    </div>
  );
}
