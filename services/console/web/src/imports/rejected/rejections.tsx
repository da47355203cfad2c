// The rows of a file that were rejected: where, which value, and why. While nothing of the file is
// loaded or proposed, who may import corrects them in place.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { startDownload } from '../../parts/files/start-download.ts';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import { Refusal } from '../../parts/form/form.tsx';
import styles from '../imports.module.css';
import type { ImportTable } from '../queries.ts';
import { CorrectRows, type CorrectRowsProps } from './correct-rows.tsx';

type Rejection = Schemas['Rejection'];
type RejectionsProps = CorrectRowsProps & { importId: number; canCorrect: boolean };

const windowSize = 20;

export function Rejections({ importId, canCorrect, ...correctRows }: RejectionsProps) {
  const [shown, setShown] = useState(windowSize);
  const { table } = correctRows;
  const { rejections, metrics, rejected_rows_url } = table;
  const total = metrics?.rejected || rejections.length;
  if (rejections.length === 0) return null;
  const isCorrected = canCorrect && isCorrectable(table);
  const titleId = `rejections-${table.id}`;
  return (
    <section className={styles.part} aria-labelledby={titleId}>
      <h3 id={titleId}>
        <Plural value={total} one="# row is rejected" other="# rows are rejected" />
      </h3>
      {isCorrected ? <CorrectRows {...correctRows} /> : <RejectedValues rejections={rejections.slice(0, shown)} />}
      <div className={`${styles.actions} ${styles.more}`}>
        {!isCorrected && shown < rejections.length && (
          <Button onPress={() => setShown((before) => before + windowSize)}>
            <Trans>
              Show more: {shown} of {rejections.length} are shown
            </Trans>
          </Button>
        )}
        {rejected_rows_url !== null && <DownloadRejections importId={importId} tableId={table.id} />}
        {!isCorrected && total > rejections.length && shown >= rejections.length && (
          <span>
            <Trans>The first {rejections.length} are shown; the file has all of them.</Trans>
          </span>
        )}
      </div>
    </section>
  );
}

// Nothing of such a file is loaded, so it can be loaded again with other cells.
function isCorrectable({ status, dry_run, applied_as, metrics }: ImportTable): boolean {
  if (!metrics?.rejected || applied_as === 'change_request') return false;
  return status === 'failed' || (dry_run && status === 'completed_with_errors');
}

function RejectedValues({ rejections }: { rejections: Rejection[] }) {
  const { t } = useLingui();
  return (
    <div className={styles.table}>
      <table aria-label={t`Rejected rows`}>
        <thead>
          <tr>
            <th scope="col" className={styles.number}>
              <Trans>Row of the file</Trans>
            </th>
            <th scope="col">
              <Trans>Column</Trans>
            </th>
            <th scope="col">
              <Trans>Value</Trans>
            </th>
            <th scope="col">
              <Trans>Reason</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {rejections.map((rejection) => (
            <RejectionRow key={`${rejection.row}:${rejection.column}:${rejection.message}`} rejection={rejection} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RejectionRow({
  rejection: { row, column, value, message, consequences, cause_row },
}: {
  rejection: Rejection;
}) {
  const { count } = useNumbers();
  return (
    <tr>
      <td className={styles.number}>{count(row)}</td>
      <td className={styles.code}>{column}</td>
      <td className={styles.code}>{value}</td>
      <td>
        {message}
        {consequences !== undefined && consequences > 0 && (
          <p>
            <Plural
              value={consequences}
              one="# row that refers to it is rejected, too"
              other="# rows that refer to it are rejected, too"
            />
          </p>
        )}
        {cause_row !== undefined && (
          <p>
            <Trans>Correct row {cause_row} instead.</Trans>
          </p>
        )}
      </td>
    </tr>
  );
}

// The link is good for an hour, and this page may be open for longer: it is made at the press.
function DownloadRejections({ importId, tableId }: { importId: number; tableId: number }) {
  const act = useAct(
    async () => {
      const given = await client.get('/imports/{id}', { params: { path: { id: importId } } });
      const url = given.import_tables.find(({ id }) => id === tableId)?.rejected_rows_url;
      if (url) startDownload(url);
    },
    { changes: [] },
  );
  return (
    <>
      <Refusal error={act.error} />
      <Button isDisabled={act.isPending} onPress={() => act.mutate(undefined)}>
        <Download size={16} aria-hidden />
        <Trans>Download all rejected rows</Trans>
      </Button>
    </>
  );
}
