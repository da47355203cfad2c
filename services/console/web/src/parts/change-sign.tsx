import styles from './page.module.css';

export const changeSigns = { create: '+', update: '~', delete: '−', restore: '↺' };

/** The sign of a change, with its colour: a word always stands beside it. */
export function ChangeSign({ kind }: { kind: keyof typeof changeSigns }) {
  return (
    <span className={`${styles.sign} ${styles[kind]}`} aria-hidden>
      {changeSigns[kind]}
    </span>
  );
}
