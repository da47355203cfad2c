import { Trans } from '@lingui/react/macro';
import { useEffect, useRef, useState } from 'react';
import styles from './table.module.css';

/** A field that leads to a row by its number, counted from 1; Ctrl+G leads to the field. */
export function GoToRow({ onGo }: { onGo: (row: number) => void }) {
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (key.toLowerCase() !== 'g' || !(ctrlKey || metaKey) || altKey || shiftKey) return;
      if (event.defaultPrevented || document.querySelector('[role=dialog]')) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const digits = text.replaceAll(/\D/g, '');
  return (
    <form
      className={styles.goTo}
      onSubmit={(event) => {
        event.preventDefault();
        if (digits !== '') onGo(Number(digits));
      }}
    >
      <label>
        <Trans>Go to row</Trans>{' '}
        <input ref={field} inputMode="numeric" value={text} onChange={({ target }) => setText(target.value)} />
      </label>
    </form>
  );
}
