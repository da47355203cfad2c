import { Link, type LinkProps } from '@tanstack/react-router';
import styles from '../admin.module.css';

export type ChoiceLink = { id: string; name: string; count?: number; link: LinkProps };

// The one whose address is exactly that of the page is the current one.
const exactly = { exact: true };

/** Choices that are in the address, as links. */
export function ChoiceLinks({ label, choices }: { label: string; choices: ChoiceLink[] }) {
  return (
    <nav className={styles.choices} aria-label={label}>
      {choices.map(({ id, name, count, link }) => (
        <Link key={id} {...link} activeOptions={exactly}>
          {name}
          {count !== undefined && <span>{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
