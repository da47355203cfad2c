// Above the rows: the saved views of the table, and what to do with what one sees.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { explainError } from '../../api/explain-error.ts';
import { type Table, tableAccessQuery } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import type { OpenView } from '../use-view.ts';
import { differenceTo, isDifferent, noDifference } from './state/difference.ts';
import { useSaveView } from './use-save-view.ts';
import { ViewNotes } from './view-notes.tsx';
import type { ViewDetails } from './view-queries.ts';
import { rightsTo, type ViewRights } from './view-rights.ts';
import { ViewTabs } from './view-tabs.tsx';
import { useViewRefusal } from './view-words.ts';
import styles from './views.module.css';

const ViewMenu = lazy(async () => ({ default: (await import('./view-menu.tsx')).ViewMenu }));
const NewViewDialog = lazy(async () => ({ default: (await import('./view-dialogs.tsx')).NewViewDialog }));

type ViewBarProps = { table: Table; userId: number; open: Pick<OpenView, 'members' | 'chosen'> };

export function ViewBar({ table, userId, open: { members, chosen } }: ViewBarProps) {
  const { t } = useLingui();
  const tableId = table.table_definition_id;
  const { data: access } = useQuery(tableAccessQuery(tableId));
  const navigate = useNavigate({ from: '/t/$key' });
  const bar = useRef<HTMLDivElement>(null);
  const [isNew, setIsNew] = useState(false);
  // The button that was pressed is no more.
  const focusView = () => bar.current?.querySelector<HTMLElement>('[aria-current], button')?.focus();
  const save = useSaveView(focusView);
  const { view, views, isMissing } = chosen;
  const isChanged = chosen.isSettled && isDifferent(differenceTo(chosen.saved, members));
  const refusal = isMissing || !save.error ? [] : explainError(save.error).lines;
  const rights = view && rightsTo(view, { userId, isDeveloper: access?.can?.includes('update') ?? false });
  const isListed = !view || isMissing || views.some(({ id }) => id === view.id);
  return (
    <>
      <div ref={bar} className={styles.bar}>
        <ViewTabs tableKey={table.key} views={isListed ? views : [...views, view]} isChanged={isChanged} />
        {view && rights && !isMissing && (
          <Suspense fallback={<span className={styles.menuPlace} />}>
            <ViewMenu key={view.id} view={view} rights={rights} userId={userId} />
          </Suspense>
        )}
        {isChanged || isMissing ? (
          <>
            {view && rights && isChanged && !isMissing && (
              <SaveView
                view={view}
                rights={rights}
                userId={userId}
                isPending={save.isPending}
                onSave={() => save.mutate({ view, shown: members })}
              />
            )}
            <Button kind="quiet" onPress={() => setIsNew(true)}>
              <Trans>Save as new view…</Trans>
            </Button>
            {!isMissing && (
              <Button
                kind="quiet"
                onPress={() => {
                  save.reset();
                  void navigate({ to: '.', search: (search) => ({ ...search, ...noDifference }) });
                  focusView();
                }}
              >
                <Trans>Discard changes</Trans>
              </Button>
            )}
          </>
        ) : (
          <Button kind="quiet" aria-label={t`New view…`} onPress={() => setIsNew(true)}>
            <Plus size={16} aria-hidden />
          </Button>
        )}
        <span role="status" className={styles.status}>
          {save.isSuccess && !isChanged && save.data.id === view?.id && <Trans>View saved</Trans>}
        </span>
      </div>
      <ViewNotes chosen={chosen} refusal={refusal} />
      <Suspense>
        {isNew && <NewViewDialog tableId={tableId} shown={members} onClose={() => setIsNew(false)} />}
      </Suspense>
    </>
  );
}

type SaveViewProps = {
  view: ViewDetails;
  rights: ViewRights;
  userId: number;
  isPending: boolean;
  onSave: () => void;
};

function SaveView({ view, rights, userId, isPending, onSave }: SaveViewProps) {
  const refusal = useViewRefusal(view, rights, userId);
  if (!rights.mayChange) return <span className={styles.status}>{refusal}</span>;
  return (
    <Button isDisabled={isPending} onPress={onSave}>
      <span aria-hidden>●</span>
      <Trans>Save view</Trans>
    </Button>
  );
}
