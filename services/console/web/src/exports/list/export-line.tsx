import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { FileDown } from 'lucide-react';
import { client } from '../../api/client.ts';
import { tablesQuery } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { ExportFile } from '../export-file.tsx';
import { useExportWords } from '../export-words.ts';
import styles from '../exports.module.css';
import { type Export, isOpen } from '../queries.ts';

type ExportLineProps = {
  given: Export;
  /** When its link was made, in milliseconds. */
  readAt: number;
};

/** An export in the list: its table, its state, its file, who made it, and when. */
export function ExportLine({ given, readAt }: ExportLineProps) {
  const words = useExportWords();
  const { size } = useNumbers();
  const { data: tables } = useQuery(tablesQuery(given.branch_id));
  const { name, style } = words.status[given.status];
  const table = tables?.find(({ key }) => key === given.table_definition_key);
  return (
    <div className={styles.line}>
      <FileDown size={18} aria-hidden />
      <div className={pageStyles.text}>
        <span className={pageStyles.name}>{table?.name ?? given.table_definition_key}</span>{' '}
        <span className={`${pageStyles.pill} ${style}`}>{name}</span> <Choices given={given} />
        <span className={styles.facts}>
          #{given.id} · {words.format[given.format]}
          {given.rows_exported !== null && (
            <>
              {' · '}
              <Plural value={given.rows_exported} one="# row" other="# rows" />
            </>
          )}
          {given.bytes_exported !== null && ` · ${size(given.bytes_exported)}`}
          {' · '}
          <Person id={given.created_by} /> · <Time instant={given.created_at} />
        </span>
        {given.error && <span className={styles.problem}>{given.error}</span>}
      </div>
      <div className={styles.act}>
        {given.status === 'completed' && <ExportFile given={given} readAt={readAt} />}
        {isOpen(given) && <CancelExport id={given.id} />}
      </div>
    </div>
  );
}

// Which rows it has, beside all of them.
function Choices({ given: { as_of, pattern, criteria, for_editing } }: { given: Export }) {
  return (
    <>
      {as_of !== null && (
        <span className={pageStyles.pill}>
          <Trans>
            as of <Time instant={as_of} />
          </Trans>
        </span>
      )}
      {pattern === 'incremental' && (
        <span className={pageStyles.pill}>
          <Trans>changes only</Trans>
        </span>
      )}
      {(criteria?.filterModel ?? criteria?.q ?? criteria?.or) !== undefined && (
        <span className={pageStyles.pill}>
          <Trans>some rows</Trans>
        </span>
      )}
      {for_editing && (
        <span className={pageStyles.pill}>
          <Trans>to edit</Trans>
        </span>
      )}
    </>
  );
}

function CancelExport({ id }: { id: number }) {
  const act = useAct(() => client.post('/exports/{id}/cancel', { params: { path: { id } } }), {
    changes: [['exports']],
  });
  return (
    <>
      <Refusal error={act.error} />
      <Button isDisabled={act.isPending || act.isSuccess} onPress={() => act.mutate(undefined)}>
        {act.isPending || act.isSuccess ? <Trans>Cancelling…</Trans> : <Trans>Cancel</Trans>}
      </Button>
    </>
  );
}
