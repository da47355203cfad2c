import type { ReactNode } from 'react';
import styles from './scrolled-table.module.css';

/** A table of numbers or marks. Where it is wider than the page, the keys scroll it, too. */
export function ScrolledTable({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus no key scrolls it.
    <section className={styles.scroll} tabIndex={0} aria-label={label}>
      <table className={styles.table}>{children}</table>
    </section>
  );
}
