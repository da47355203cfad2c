import { useEffect, useEffectEvent, useReducer } from 'react';

type EditKeys = { save: () => void; undo: () => void; redo: () => void };

/**
 * Ctrl+S saves, Ctrl+Z undoes, Ctrl+Shift+Z and Ctrl+Y do again; in a field the last three are the
 * field's own.
 */
export function useEditKeys(keys: EditKeys): void {
  // Asked as a state: what was entered before is in the edits by the time they are saved.
  const [asked, askSave] = useReducer((count: number) => count + 1, 0);
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
    if (!(ctrlKey || metaKey) || altKey || event.defaultPrevented) return;
    const letter = key.toLowerCase();
    if (letter === 's' && !shiftKey) {
      event.preventDefault();
      // A cell that is being edited is left first, which enters its value.
      if (target instanceof HTMLElement) target.blur();
      setTimeout(askSave);
      return;
    }
    if (target instanceof HTMLElement && target.matches('input, textarea, select')) return;
    if (letter !== 'z' && letter !== 'y') return;
    event.preventDefault();
    if (letter === 'y' || shiftKey) keys.redo();
    else keys.undo();
  });
  const onSave = useEffectEvent(() => keys.save());
  useEffect(() => {
    if (asked > 0) onSave();
  }, [asked]);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
