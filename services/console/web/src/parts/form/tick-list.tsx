// A list to tick several things of; beyond a few one searches it.
import { Trans } from '@lingui/react/macro';
import { type ReactNode, useState } from 'react';
import { SearchBox } from '../search-box.tsx';
import styles from './tick-list.module.css';

export type TickItem = { id: number; name: string; note?: string; section?: string };

type TickListProps = {
  label: ReactNode;
  searchLabel: string;
  items: TickItem[];
  ticked: ReadonlySet<number>;
  onChange: (ticked: Set<number>) => void;
};

const fewItems = 8;

export function TickList({ label, searchLabel, items, ticked, onChange }: TickListProps) {
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().toLowerCase();
  const found = items.filter(({ name, note = '' }) => `${name} ${note}`.toLowerCase().includes(wanted));
  const sections = [...new Set(found.map(({ section = '' }) => section))];
  const toggle = (id: number) => {
    const next = new Set(ticked);
    if (!next.delete(id)) next.add(id);
    onChange(next);
  };
  return (
    <fieldset className={styles.set}>
      <legend>{label}</legend>
      {items.length > fewItems && <SearchBox label={searchLabel} value={typed} onChange={setTyped} />}
      <div className={styles.list}>
        {sections.map((section) => (
          <div key={section}>
            {section && <h3>{section}</h3>}
            {found
              .filter((item) => (item.section ?? '') === section)
              .map(({ id, name, note }) => (
                <label key={id}>
                  <input type="checkbox" checked={ticked.has(id)} onChange={() => toggle(id)} />
                  <span>
                    {name} {note && <span className={styles.note}>{note}</span>}
                  </span>
                </label>
              ))}
          </div>
        ))}
        {found.length === 0 && (
          <p className={styles.none}>
            {typed ? <Trans>Nothing matches “{typed}”.</Trans> : <Trans>There is none.</Trans>}
          </p>
        )}
      </div>
    </fieldset>
  );
}
