import { useLingui } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown, ChevronRight } from 'lucide-react';
import pageStyles from '../../parts/page.module.css';
import { Time } from '../../parts/time.tsx';
import { Actor } from './actor.tsx';
import auditStyles from './audit.module.css';
import { AuditDetails } from './audit-details.tsx';
import type { AuditEvent } from './audit-view.ts';
import { ResourceName } from './resource-name.tsx';
import { useAuditWords } from './use-audit-words.ts';

/** One entry: who did what to what, and the rest when it is opened. */
export function AuditLine({ event, isOpen }: { event: AuditEvent; isOpen: boolean }) {
  const { t } = useLingui();
  const navigate = useNavigate({ from: '/admin/audit' });
  const { nameOf } = useAuditWords();
  const results = { succeeded: '', failed: t`failed`, refused: t`refused` };
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  const toggle = () =>
    void navigate({
      search: (view) => ({ ...view, event: isOpen ? undefined : event.id }),
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      <button
        type="button"
        className={`${pageStyles.line} ${auditStyles.head}`}
        aria-expanded={isOpen}
        onClick={toggle}
      >
        <Arrow size={16} aria-hidden />
        <span className={pageStyles.text}>
          <span className={pageStyles.name} title={event.action}>
            {nameOf(event.action)}
          </span>{' '}
          {results[event.result] && (
            <span className={`${pageStyles.pill} ${event.result === 'failed' ? pageStyles.warn : pageStyles.bad}`}>
              {results[event.result]}
            </span>
          )}
          <span className={pageStyles.note}>
            <Actor event={event} /> <ResourceName event={event} />
          </span>
        </span>
        <span className={pageStyles.end}>
          <Time instant={event.occurred_at} />
        </span>
      </button>
      {isOpen && <AuditDetails event={event} />}
    </>
  );
}
