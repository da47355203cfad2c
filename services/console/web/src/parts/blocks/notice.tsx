import type { ReactNode } from 'react';
import styles from './notice.module.css';

type NoticeProps = { kind?: 'plain' | 'done' | 'warning' | 'bad'; children: ReactNode };

/** What came of an act, or what one should know before the next. */
export function Notice({ kind = 'plain', children }: NoticeProps) {
  return (
    <div
      className={`${styles.notice} ${kind === 'plain' ? '' : styles[kind]}`}
      role={kind === 'done' ? 'status' : undefined}
    >
      {children}
    </div>
  );
}
