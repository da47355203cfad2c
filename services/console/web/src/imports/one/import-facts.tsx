import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useBranch } from '../../address/use-branch.ts';
import { client } from '../../api/client.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { useImportWords } from '../import-words.ts';
import styles from '../imports.module.css';
import { Progress } from '../progress.tsx';
import { type ImportDetails, isOpen } from '../queries.ts';

/** State, who and when of an import, and while it is open its progress and how to cancel it. */
export function ImportFacts({ given }: { given: ImportDetails }) {
  const { t } = useLingui();
  const { status } = useImportWords();
  const { branches } = useBranch();
  const { name, style } = status[given.status];
  const branch = branches.find(({ id }) => id === given.branch_id);
  return (
    <>
      <div className={`${styles.head} ${styles.page}`}>
        <span className={`${pageStyles.pill} ${style}`}>{name}</span>
        <span>
          #{given.id} · <Person id={given.created_by} /> · {branch?.name}
        </span>
        <span>
          <Trans>
            opened <Time instant={given.created_at} />
          </Trans>
        </span>
        <span>{isOwnCode(given.correlation_code) && <code>{given.correlation_code}</code>}</span>
      </div>
      {given.status === 'processing' && <Progress label={t`Progress of the import`} progress={given.progress} />}
      {isOpen(given) && <CancelImport given={given} />}
    </>
  );
}

function CancelImport({ given }: { given: ImportDetails }) {
  const { data: definitions } = useQuery(definitionsQuery(given.branch_id));
  const act = useAct(() => client.post('/imports/{id}/cancel', { params: { path: { id: given.id } } }), {
    changes: [['imports']],
  });
  const mayEdit = given.import_tables.every(({ table_definition_id: tableId }) =>
    definitions?.find(({ id }) => id === tableId)?.can?.includes('import_rows'),
  );
  if (!mayEdit) return null;
  return (
    <div className={styles.summary}>
      <Refusal error={act.error} />
      <Button isDisabled={act.isPending || act.isSuccess} onPress={() => act.mutate(undefined)}>
        {act.isPending || act.isSuccess ? <Trans>Cancelling…</Trans> : <Trans>Cancel the import</Trans>}
      </Button>
    </div>
  );
}

// A code that was made by the system says nothing.
function isOwnCode(code: string): boolean {
  return !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(code);
}
