import { Plural, Trans } from '@lingui/react/macro';
import { MessageSquareText, TriangleAlert } from 'lucide-react';
import { ChangeSign } from '../../parts/change-sign.tsx';
import pageStyles from '../../parts/page.module.css';
import type { Operation } from '../queries.ts';
import { useRequestWords } from '../request-words.ts';
import styles from './operation.module.css';

/** What an operation does: a sign, a colour and a word. */
export function KindSign({ kind }: { kind: Operation['kind'] }) {
  const name = useRequestWords().kind[kind];
  return (
    <span className={styles.kind}>
      <ChangeSign kind={kind} />
      {name}
    </span>
  );
}

type MarksProps = { operation: Operation; comments: number; isOpen: boolean; onOpen: () => void; tabIndex?: number };

/** What is to be said about an operation: it opens the details. */
export function Marks({ operation: { conflict, problems }, comments, isOpen, onOpen, tabIndex = 0 }: MarksProps) {
  // A conflict that was found before is kept as a problem too: it is said once.
  const others = problems.filter(({ code }) => !(conflict && code === 'version_conflict')).length;
  if (!conflict && others === 0 && comments === 0) return null;
  return (
    <button type="button" className={styles.marks} tabIndex={tabIndex} aria-expanded={isOpen} onClick={onOpen}>
      {conflict && (
        <span className={pageStyles.bad}>
          <TriangleAlert size={14} aria-hidden /> <Trans>conflict</Trans>
        </span>
      )}
      {others > 0 && (
        <span className={pageStyles.bad}>
          <TriangleAlert size={14} aria-hidden /> <Plural value={others} one="# problem" other="# problems" />
        </span>
      )}
      {comments > 0 && (
        <span>
          <MessageSquareText size={14} aria-hidden /> <Plural value={comments} one="# comment" other="# comments" />
        </span>
      )}
    </button>
  );
}
