// A button that opens a menu of choices, in groups that each have one chosen, and of actions.
import { useLingui } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { Header } from 'react-aria-components/Header';
import { Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Button } from './button.tsx';
import styles from './menu.module.css';

export type Choice = { id: string; name: string; icon?: ReactNode; note?: string };
export type ChoiceGroup = {
  id: string;
  title: string;
  choices: Choice[];
  chosen: string;
  onChoose: (id: string) => void;
};

/** An item that does something at once. */
export type MenuAction = { id: string; name: string; icon?: ReactNode; onAct: () => void };

type ChoiceMenuProps = {
  label: string;
  children: ReactNode;
  groups: ChoiceGroup[];
  /** Below the groups. */
  actions?: MenuAction[];
  /** Stands above the actions: such as which ones one has not, and who has. */
  note?: string | undefined;
};

export function ChoiceMenu({ label, children, groups, actions = [], note }: ChoiceMenuProps) {
  const { t } = useLingui();
  return (
    <MenuTrigger>
      <Button kind="quiet" aria-label={label}>
        {children}
      </Button>
      <Popover className={styles.popover as string}>
        <Menu className={styles.menu as string} aria-label={label}>
          {groups.map(({ id, title, choices, chosen, onChoose }) => (
            <MenuSection
              key={id}
              selectionMode="single"
              disallowEmptySelection
              selectedKeys={[`${id}:${chosen}`]}
              onSelectionChange={(keys) => {
                const [key] = keys === 'all' ? [] : [...keys];
                if (key !== undefined) onChoose(String(key).slice(id.length + 1));
              }}
            >
              <Header className={styles.header as string}>{title}</Header>
              {choices.map(({ id: choice, name, icon, note }) => (
                <MenuItem key={choice} id={`${id}:${choice}`} textValue={name} className={styles.item as string}>
                  {icon}
                  {name}
                  {note && <span className={styles.note}>{note}</span>}
                </MenuItem>
              ))}
            </MenuSection>
          ))}
          {actions.length > 0 && (
            <MenuSection className={styles.actions as string} {...(!note && { 'aria-label': t`Actions` })}>
              {note && <Header className={styles.header as string}>{note}</Header>}
              {actions.map(({ id, name, icon, onAct }) => (
                <MenuItem key={id} id={`action:${id}`} onAction={onAct} className={styles.item as string}>
                  {icon}
                  {name}
                </MenuItem>
              ))}
            </MenuSection>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
