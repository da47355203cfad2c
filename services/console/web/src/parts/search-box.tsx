import { Search, X } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { SearchField } from 'react-aria-components/SearchField';
import styles from './search-box.module.css';

// Long enough for a word; the server searches once one has stopped typing.
const typingMs = 300;

type SearchBoxProps = { label: string; value: string; onChange: (value: string) => void };

/** A field to filter what the page shows: `/` puts the focus there. */
export function SearchBox({ label, value, onChange }: SearchBoxProps) {
  return (
    <SearchField aria-label={label} value={value} onChange={onChange} className={styles.box as string}>
      <Search size={15} aria-hidden />
      <Input placeholder={label} data-page-search />
      <Button className={styles.clear as string}>
        <X size={14} aria-hidden />
      </Button>
    </SearchField>
  );
}

/** It shows at once what is typed; `onChange` follows when the typing rests. */
export function RestingSearchBox({ label, value, onChange }: SearchBoxProps) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  // The address has changed beside this field: by a link, or by clearing the search.
  if (value !== known) {
    setKnown(value);
    if (value !== typed.trim()) setTyped(value);
  }
  const onRest = useEffectEvent((text: string) => {
    if (text.trim() !== value.trim()) onChange(text);
  });
  useEffect(() => {
    const rest = setTimeout(() => onRest(typed), typingMs);
    return () => clearTimeout(rest);
  }, [typed]);
  return <SearchBox label={label} value={typed} onChange={setTyped} />;
}
