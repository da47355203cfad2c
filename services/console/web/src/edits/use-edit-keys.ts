import { useEffect, useEffectEvent } from 'react';

type EditKeys = { save: () => void; undo: () => void; redo: () => void };

/**
 * Ctrl+S saves, Ctrl+Z undoes, Ctrl+Shift+Z and Ctrl+Y do again; in a field the last three are the
 * field's own.
 */
export function useEditKeys(keys: EditKeys): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
    if (!(ctrlKey || metaKey) || altKey || event.defaultPrevented) return;
    const letter = key.toLowerCase();
    if (letter === 's' && !shiftKey) {
      event.preventDefault();
      // A cell that is being edited is left first, which enters its value.
      if (target instanceof HTMLElement) target.blur();
      setTimeout(onSave);
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
    const listen = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
