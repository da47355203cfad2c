import { Plural } from '@lingui/react/macro';
import type { Schemas } from '../../api/client.ts';
import styles from './rehearsal.module.css';

/** What a rehearsal has found to be in the way, table by table. */
export function Violations({ violations }: { violations: readonly Schemas['Violation'][] }) {
  if (violations.length === 0) return null;
  return (
    <ul className={styles.violations}>
      {violations.map(({ table, message, rows }) => (
        <li key={`${table} ${message}`}>
          {table}: {message}
          {rows > 0 && (
            <>
              {' · '}
              <Plural value={rows} one="# row" other="# rows" />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
