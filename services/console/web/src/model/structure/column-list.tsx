// The columns of the draft, each beside the one in service, with the acts on it.
import { Trans, useLingui } from '@lingui/react/macro';
import { ArrowDown, ArrowUp, EllipsisVertical, Pencil, Trash2 } from 'lucide-react';
import { ChangeSign } from '../../parts/change-sign.tsx';
import { ChoiceMenu, type MenuAction } from '../../parts/choice-menu.tsx';
import type { DraftColumn } from '../definition/queries.ts';
import { ColumnFacts } from './column-facts.tsx';
import type { ColumnPair } from './column-pairs.ts';
import styles from './structure.module.css';

type ColumnListProps = {
  pairs: ColumnPair[];
  isDeployed: boolean;
  nameOf: (tableId: number) => string;
  /** Undefined where one may not change the draft. */
  acts: ColumnActs | undefined;
};

export type ColumnActs = {
  onEdit: (column: DraftColumn) => void;
  /** To a place from 1. */
  onMove: (column: DraftColumn, place: number) => void;
  onRemove: (column: DraftColumn) => void;
};

export function ColumnList({ pairs, isDeployed, nameOf, acts }: ColumnListProps) {
  const { t } = useLingui();
  const order = pairs.flatMap(({ draft }) => draft ?? []);
  return (
    <div className={styles.list} data-alone={!isDeployed || undefined}>
      {isDeployed && (
        <div className={styles.titles} aria-hidden>
          <span>
            <Trans>Draft</Trans>
          </span>
          <span>
            <Trans>In service</Trans>
          </span>
        </div>
      )}
      <ol aria-label={t`Columns`}>
        {pairs.map((pair) => (
          <li key={pair.id} className={styles.line} data-change={isDeployed ? pair.change : undefined}>
            <div className={styles.draft}>
              {isDeployed && <Change pair={pair} />}
              {pair.draft && <ColumnFacts column={pair.draft} nameOf={nameOf} />}
            </div>
            {isDeployed && (
              <div className={styles.deployed}>
                <Deployed pair={pair} nameOf={nameOf} />
              </div>
            )}
            <div className={styles.acts}>
              {acts && pair.draft && (
                <ActsMenu column={pair.draft} place={order.indexOf(pair.draft) + 1} count={order.length} acts={acts} />
              )}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The sign and the word of what becomes of the column. */
function Change({ pair: { change } }: { pair: ColumnPair }) {
  if (change === undefined) return null;
  const words = {
    create: <Trans>new</Trans>,
    update: <Trans>changed</Trans>,
    delete: <Trans>removed</Trans>,
  };
  return (
    <span className={styles.change}>
      <ChangeSign kind={change} />
      <span>{words[change]}</span>
    </span>
  );
}

function Deployed({ pair: { deployed, change }, nameOf }: { pair: ColumnPair; nameOf: (id: number) => string }) {
  if (deployed === undefined)
    return (
      <p className={styles.note}>
        <Trans>not in service yet</Trans>
      </p>
    );
  if (change === undefined)
    return (
      <p className={styles.note}>
        <Trans>the same</Trans>
      </p>
    );
  return <ColumnFacts column={deployed} nameOf={nameOf} />;
}

type ActsMenuProps = { column: DraftColumn; place: number; count: number; acts: ColumnActs };

function ActsMenu({ column, place, count, acts }: ActsMenuProps) {
  const { t } = useLingui();
  const actions: (MenuAction | false)[] = [
    {
      id: 'edit',
      name: t`Change…`,
      icon: <Pencil size={16} aria-hidden />,
      onAct: () => acts.onEdit(column),
    },
    place > 1 && {
      id: 'up',
      name: t`Move up`,
      icon: <ArrowUp size={16} aria-hidden />,
      onAct: () => acts.onMove(column, place - 1),
    },
    place < count && {
      id: 'down',
      name: t`Move down`,
      icon: <ArrowDown size={16} aria-hidden />,
      onAct: () => acts.onMove(column, place + 1),
    },
    {
      id: 'remove',
      name: t`Remove…`,
      icon: <Trash2 size={16} aria-hidden />,
      onAct: () => acts.onRemove(column),
    },
  ];
  return (
    <ChoiceMenu label={t`Column ${column.name}`} groups={[]} actions={actions.filter((action) => action !== false)}>
      <EllipsisVertical size={16} aria-hidden />
    </ChoiceMenu>
  );
}
