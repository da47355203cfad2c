import { type ReactNode, useEffect } from 'react';
import styles from './page.module.css';

type PageProps = { title: string; note?: ReactNode; actions?: ReactNode; children: ReactNode };

/** A page of text and lists, with its heading; a table has the whole width instead. */
export function Page({ title, note, actions, children }: PageProps) {
  useTitle(title);
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <div>
          <h1>{title}</h1>
          {note && <p>{note}</p>}
        </div>
        {actions}
      </div>
      {children}
    </div>
  );
}

/** The title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Almanac`;
  }, [title]);
}
