import type { ReactNode } from 'react';
import styles from '../page.module.css';

type LineListProps<T> = { items: readonly T[]; children: (item: T) => ReactNode };

/** Things below each other, a line each. */
export function LineList<T extends { id: number | string }>({ items, children }: LineListProps<T>) {
  return (
    <ul className={styles.list}>
      {items.map((item) => (
        <li key={item.id}>{children(item)}</li>
      ))}
    </ul>
  );
}
