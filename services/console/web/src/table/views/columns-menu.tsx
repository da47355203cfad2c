// Which columns are shown: one that was hidden comes back here.
import { useLingui } from '@lingui/react/macro';
import { Check, Columns3, RotateCcw } from 'lucide-react';
import { Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { type ColumnLayout, completed, unlessUsual } from '../../address/column-layout.ts';
import { Button } from '../../parts/button.tsx';
import menu from '../../parts/menu.module.css';
import styles from './views.module.css';

type ColumnsMenuProps = {
  /** The names of the columns as usual. */
  usual: readonly string[];
  layout: ColumnLayout;
  onChange: (layout: ColumnLayout) => void;
};

export function ColumnsMenu({ usual, layout, onChange }: ColumnsMenuProps) {
  const { t } = useLingui();
  const places = completed(layout, usual);
  const shown = places.filter(({ hidden }) => !hidden).map(({ column }) => column);
  const show = (names: ReadonlySet<unknown>) => {
    const next = places.map(({ hidden, ...place }) =>
      names.has(place.column) ? place : { ...place, hidden: true as const },
    );
    onChange(unlessUsual(next, usual));
  };
  return (
    <MenuTrigger>
      <Button kind="quiet" aria-label={t`Columns`}>
        <Columns3 size={16} aria-hidden />
      </Button>
      <Popover className={menu.popover as string} placement="bottom end">
        <Menu className={menu.menu as string} aria-label={t`Columns`}>
          <MenuSection
            aria-label={t`Shown columns`}
            selectionMode="multiple"
            // A table without columns shows nothing that one could bring them back by.
            disallowEmptySelection
            selectedKeys={shown}
            onSelectionChange={(keys) => show(keys === 'all' ? new Set(usual) : keys)}
          >
            {places.map(({ column }) => (
              <MenuItem key={column} id={column} textValue={column} className={`${menu.item} ${styles.column}`}>
                {({ isSelected }) => (
                  <>
                    <Check size={16} aria-hidden style={isSelected ? undefined : { visibility: 'hidden' }} />
                    {column === 'svc_updated_at' ? t`changed` : column}
                  </>
                )}
              </MenuItem>
            ))}
          </MenuSection>
          {layout.length > 0 && (
            <MenuSection className={menu.actions as string} aria-label={t`Actions`}>
              <MenuItem className={menu.item as string} onAction={() => onChange([])}>
                <RotateCcw size={16} aria-hidden />
                {t`Columns as usual`}
              </MenuItem>
            </MenuSection>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
