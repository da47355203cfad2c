import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/form/form.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { type Domain, tablesOfDomainQuery } from '../definition/queries.ts';
import { DomainRefusal } from './domain-refusal.tsx';
import styles from './domains.module.css';

type DeleteDomainProps = { domain: Domain; onClose: () => void };

/** Deletes a domain without tables; with tables it names them. */
export function DeleteDomain({ domain, onClose }: DeleteDomainProps) {
  const { t } = useLingui();
  return (
    <ModalDialog label={t`Delete ${domain.name}?`} onClose={onClose}>
      <DomainRefusal refusal={domain.can_not?.delete} onClose={onClose}>
        <Deletion domain={domain} onClose={onClose} />
      </DomainRefusal>
    </ModalDialog>
  );
}

function Deletion({ domain: { id }, onClose }: DeleteDomainProps) {
  const { data: tables, error, refetch } = useQuery(tablesOfDomainQuery(id));
  const remove = useAct(() => client.delete('/domains/{id}', { params: { path: { id } } }), {
    changes: [['domains'], ['tables'], ['me'], ['user_groups']],
    onDone: onClose,
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!tables) return <Skeleton lines={3} />;
  if (tables.length > 0)
    return (
      <>
        <p>
          <Trans>These tables belong to it. Remove them first, or move them to another domain:</Trans>
        </p>
        <ul className={styles.tables}>
          {tables.map((table) => (
            <li key={table.id}>
              <Trans>
                {table.name} on the branch {table.branch.name}
              </Trans>
            </li>
          ))}
        </ul>
        <Button onPress={onClose}>
          <Trans>Close</Trans>
        </Button>
      </>
    );
  return (
    <Form
      error={remove.error}
      isPending={remove.isPending}
      submit={<Trans>Delete the domain</Trans>}
      onCancel={onClose}
      onSubmit={() => remove.mutate()}
    >
      <p>
        <Trans>No table belongs to it. Its groups and the rights that they give are deleted with it.</Trans>
      </p>
    </Form>
  );
}
