// Above the rows: the quick search, the filters in force, the instant, and loading again.
import { Trans, useLingui } from '@lingui/react/macro';
import { ChevronDown, Download, Plus, RotateCw, SquareTerminal, X } from 'lucide-react';
import { useFilterWords } from '../address/filter-words.ts';
import { Button } from '../parts/button.tsx';
import { ChoiceMenu } from '../parts/choice-menu.tsx';
import { RestingSearchBox } from '../parts/search-box.tsx';
import { AsOf, PastStrip } from './as-of.tsx';
import { ChangedElsewhereNote } from './changed-elsewhere.tsx';
import styles from './table.module.css';
import type { ShownView, ViewChange } from './use-view.ts';
import { ColumnsMenu } from './views/columns-menu.tsx';

type TableToolsProps = {
  view: ShownView;
  columnNames: readonly string[];
  onChange: (part: ViewChange, step?: 'kept' | 'replaced') => void;
  onReload: () => void;
  changedElsewhere: number;
  onShowChanged: () => void;
  /** Adds a row, where one may. */
  onAdd?: (() => void) | undefined;
  onExport: () => void;
  onShowCurl: () => void;
  /** Opens what is done to all matches. */
  onBulk: (kind: 'change' | 'delete') => void;
};

export function TableTools({
  view,
  columnNames,
  onChange,
  onAdd,
  onExport,
  onShowCurl,
  onBulk,
  ...loading
}: TableToolsProps) {
  const { t } = useLingui();
  const words = useFilterWords();
  const without = (name: string) => Object.fromEntries(Object.entries(view.filters).filter(([key]) => key !== name));
  return (
    <>
      <div className={styles.tools}>
        <RestingSearchBox
          label={t`Search rows`}
          value={view.q ?? ''}
          onChange={(q) => onChange({ q: q.trim() === '' ? undefined : q }, 'replaced')}
        />
        <ul className={styles.chips} aria-label={t`Filters`}>
          {Object.entries(view.filters).map(([name, model]) => (
            <li key={name} className={styles.chip}>
              <span>{words(name, model)}</span>
              <button
                type="button"
                className={styles.remove}
                aria-label={t`Remove the filter of ${name}`}
                onClick={() => onChange({ filters: without(name) })}
              >
                <X size={14} aria-hidden />
              </button>
            </li>
          ))}
        </ul>
        <ChangedElsewhereNote count={loading.changedElsewhere} onShow={loading.onShowChanged} />
        <span className={styles.end} />
        {onAdd && (
          <Button onPress={onAdd}>
            <Plus size={16} aria-hidden />
            <Trans>New row</Trans>
          </Button>
        )}
        <ChoiceMenu
          label={t`All matches`}
          groups={[]}
          actions={[
            { id: 'change', name: t`Change all matches…`, onAct: () => onBulk('change') },
            { id: 'delete', name: t`Delete all matches…`, onAct: () => onBulk('delete') },
          ]}
        >
          <Trans>All matches</Trans>
          <ChevronDown size={14} aria-hidden />
        </ChoiceMenu>
        <Button kind="quiet" onPress={onExport}>
          <Download size={16} aria-hidden />
          <Trans>Export</Trans>
        </Button>
        <Button kind="quiet" aria-label={t`Show as curl`} onPress={onShowCurl}>
          <SquareTerminal size={16} aria-hidden />
        </Button>
        <ColumnsMenu
          usual={columnNames}
          layout={view.columns}
          onChange={(columns) => onChange({ columns }, 'replaced')}
        />
        <AsOf asOf={view.asOf} onChange={(asOf) => onChange({ asOf })} />
        <Button kind="quiet" aria-label={t`Load again`} onPress={loading.onReload}>
          <RotateCw size={16} aria-hidden />
        </Button>
      </div>
      {view.asOf !== undefined && <PastStrip asOf={view.asOf} onNow={() => onChange({ asOf: undefined })} />}
    </>
  );
}
