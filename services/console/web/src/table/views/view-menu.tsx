// What one does with the chosen view, besides saving what one sees.
import { useLingui } from '@lingui/react/macro';
import { Ellipsis } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { ChoiceMenu, type MenuAction } from '../../parts/choice-menu.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import type { View, ViewDetails } from './view-queries.ts';
import type { ViewRights } from './view-rights.ts';
import { useSharingChoices, useViewRefusal } from './view-words.ts';

const RenameViewDialog = lazy(async () => ({ default: (await import('./view-dialogs.tsx')).RenameViewDialog }));
const DeleteViewDialog = lazy(async () => ({ default: (await import('./view-dialogs.tsx')).DeleteViewDialog }));

type ViewMenuProps = { view: ViewDetails; rights: ViewRights; userId: number };

export function ViewMenu({ view, rights, userId }: ViewMenuProps) {
  const { t } = useLingui();
  const choices = useSharingChoices();
  const refusal = useViewRefusal(view, rights, userId);
  const [opened, setOpened] = useState<'rename' | 'delete'>();
  const close = () => setOpened(undefined);
  const change = useAct(
    (changes: Schemas['ViewChanges']) =>
      client.patch('/views/{id}', { params: { path: { id: view.id } }, body: { view: changes } }),
    { changes: [['views']] },
  );
  const { is_own_default: isOwn, is_default: isDefault } = view;
  const actions: (MenuAction | false)[] = [
    {
      id: 'own',
      name: isOwn ? t`Don’t open the table with it for me` : t`Open the table with it for me`,
      onAct: () => change.mutate({ is_own_default: !isOwn }),
    },
    rights.mayBeDefault && {
      id: 'default',
      name: isDefault ? t`Don’t open the table with it for all` : t`Open the table with it for all`,
      onAct: () => change.mutate({ is_default: !isDefault }),
    },
    rights.mayChange && { id: 'rename', name: t`Rename…`, onAct: () => setOpened('rename') },
    rights.mayChange && { id: 'delete', name: t`Delete…`, onAct: () => setOpened('delete') },
  ];
  const sharing = {
    id: 'sharing',
    title: t`Who sees it`,
    choices,
    chosen: view.sharing,
    onChoose: (id: string) => change.mutate({ sharing: id as View['sharing'] }),
  };
  return (
    <>
      <ChoiceMenu
        label={t`Acts on the view ${view.name}`}
        groups={rights.mayShare ? [sharing] : []}
        actions={actions.filter((action) => action !== false)}
        note={refusal}
      >
        <Ellipsis size={16} aria-hidden />
      </ChoiceMenu>
      <Refusal error={change.error} />
      <Suspense>
        {opened === 'rename' && <RenameViewDialog view={view} onClose={close} />}
        {opened === 'delete' && <DeleteViewDialog view={view} onClose={close} />}
      </Suspense>
    </>
  );
}
