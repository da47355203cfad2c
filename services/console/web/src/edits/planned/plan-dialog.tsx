// What a paste or a fill would change, before it does.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import type { Table } from '../../api/queries.ts';
import { type CellFormats, keyText, valueText } from '../../cells/cell-text.ts';
import { Button } from '../../parts/button.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import styles from '../edits.module.css';
import { blanksOf } from '../paste/paste-plan.ts';
import type { PlannedEdits } from './use-planned-edits.ts';

type PlanDialogProps = {
  table: Table;
  planned: PlannedEdits;
  formats: CellFormats;
  onApply: () => void;
  onClose: () => void;
};

const sampleSize = 20;

export function PlanDialog({ table, planned, formats, onApply, onClose }: PlanDialogProps) {
  const { t } = useLingui();
  const { kind, shape, plan } = planned;
  const labels = { paste: t`Paste`, fill: t`Fill`, clear: t`Clear` };
  const { changes, created, unchanged } = plan;
  const rows = new Set(changes.map(({ row }) => row.svc_sk)).size;
  const isEmpty = changes.length + created.length === 0;
  const ignored = shape?.ignored.join(', ') ?? '';
  return (
    <ModalDialog label={labels[kind]} onClose={onClose}>
      <ul className={styles.counts}>
        {changes.length > 0 && (
          <li>
            <Plural value={changes.length} one="# cell changes" other="# cells change" />{' '}
            <Plural value={rows} one="in # row" other="in # rows" />
          </li>
        )}
        {created.length > 0 && (
          <li>
            <Plural value={created.length} one="# new row" other="# new rows" />
          </li>
        )}
        {unchanged > 0 && (
          <li>
            <Plural value={unchanged} one="# row stays as it is" other="# rows stay as they are" />
          </li>
        )}
      </ul>
      {shape && (
        <p>
          {shape.by === 'key' ? (
            <Trans>The first line has the names of columns. Rows are found by their key.</Trans>
          ) : (
            <Trans>The cells go where the focus is, in the order of the columns. Rows beyond the last are new.</Trans>
          )}
        </p>
      )}
      {ignored !== '' && (
        <p className={styles.refused}>
          {shape?.by === 'key' ? (
            <Trans>No column has the name: {ignored}</Trans>
          ) : (
            <Trans>Columns beyond the last one, which are left out: {ignored}</Trans>
          )}
        </p>
      )}
      {blanksOf(created, table.column_definitions).map(({ column, rows }) => (
        <p key={column} className={styles.refused}>
          <Plural
            value={rows}
            one={`# new row has no value of ${column}, which is required.`}
            other={`# new rows have no value of ${column}, which is required.`}
          />
        </p>
      ))}
      <Samples table={table} planned={planned} formats={formats} />
      <div className={styles.actions}>
        <Button onPress={onClose}>
          <Trans>Cancel</Trans>
        </Button>
        <Button kind="primary" autoFocus onPress={onApply} isDisabled={isEmpty}>
          {kind === 'paste' ? (
            <Plural value={rows + created.length} one="Paste into # row" other="Paste into # rows" />
          ) : kind === 'fill' ? (
            <Plural value={rows} one="Fill # row" other="Fill # rows" />
          ) : (
            <Plural value={changes.length} one="Clear # cell" other="Clear # cells" />
          )}
        </Button>
      </div>
    </ModalDialog>
  );
}

function Samples({ table, planned: { plan }, formats }: Pick<PlanDialogProps, 'table' | 'planned' | 'formats'>) {
  const columns = table.column_definitions;
  const text = (name: string, value: unknown) => {
    const column = columns.find((one) => one.name === name);
    return (column && valueText(value, column, formats)) || '∅';
  };
  const lines = [
    ...plan.changes.slice(0, sampleSize).map(({ row, column, value }) => ({
      key: keyText(row, columns),
      column,
      before: text(column, row[column]),
      after: text(column, value),
    })),
    ...plan.created.slice(0, sampleSize).map((values, place) => ({
      key: keyText(values, columns) || `+ ${place + 1}`,
      column: '+',
      before: '',
      after: Object.entries(values)
        .map(([name, value]) => `${name}: ${text(name, value)}`)
        .join(', '),
    })),
  ];
  return (
    <table className={styles.samples}>
      <thead>
        <tr>
          <th scope="col">
            <Trans>Row</Trans>
          </th>
          <th scope="col">
            <Trans>Column</Trans>
          </th>
          <th scope="col">
            <Trans>Before</Trans>
          </th>
          <th scope="col">
            <Trans>After</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr key={`${line.key}:${line.column}`}>
            <td>{line.key}</td>
            <td>{line.column}</td>
            <td>{line.before}</td>
            <td title={line.after}>{line.after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
