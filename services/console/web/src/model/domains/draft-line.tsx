import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { PencilRuler } from 'lucide-react';
import type { Definition } from '../../api/queries.ts';
import styles from '../../parts/page.module.css';

/** A table that was never deployed, as a link to its structure. */
export function DraftLine({ draft: { key, name, description } }: { draft: Definition }) {
  return (
    <Link to="/t/$key/structure" params={{ key }} className={styles.line}>
      <PencilRuler size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>{name}</span>{' '}
        <span className={styles.pill}>
          <Trans>draft</Trans>
        </span>
        <span className={styles.note}>{description ?? key}</span>
      </span>
      <span className={styles.end}>
        <Trans>not deployed</Trans>
      </span>
    </Link>
  );
}
