import { Search, X } from 'lucide-react';
import { Button } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { SearchField } from 'react-aria-components/SearchField';
import styles from './search-box.module.css';

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
