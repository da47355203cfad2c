import { Trans, useLingui } from '@lingui/react/macro';
import { plainText } from '../../cells/cell-text.ts';
import pageStyles from '../../parts/page.module.css';
import { useAttributeWords } from '../structure/attribute-words.ts';
import { type Conflict, idOf, placeOf, type Side } from './resolutions.ts';
import { SideChoice } from './side-choice.tsx';

type ConflictItemProps = {
  conflict: Conflict;
  side: Side | undefined;
  source: string;
  target: string;
  onChoose: (side: Side) => void;
};

/** One conflict with what each branch has. */
export function ConflictItem({ conflict, side, source, target, onChoose }: ConflictItemProps) {
  const { t } = useLingui();
  const { nameOf, wordsOf } = useAttributeWords();
  const { attribute, column, row } = conflict;
  const isExistence = attribute === 'row' || attribute === 'exists';
  const textOf = (value: unknown) => (isExistence ? (value ? t`there` : t`deleted`) : wordsOf(value));
  const of = row ? Object.values(row).map(plainText).join(' · ') : undefined;
  const what = isExistence || attribute === 'value' ? undefined : nameOf(attribute);
  const name = [of, column, what].filter((part) => part !== undefined && part !== null).join(' · ');
  return (
    <SideChoice
      id={idOf(placeOf(conflict))}
      name={name || nameOf(attribute)}
      side={side}
      source={source}
      sourceValue={textOf(conflict.source)}
      target={target}
      targetValue={textOf(conflict.target)}
      onChoose={onChoose}
    >
      <span className={pageStyles.quiet}>
        <Trans>before: {textOf(conflict.base)}</Trans>
      </span>
    </SideChoice>
  );
}
