// What is done to all selected operations at once.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { ReasonForm } from '../../parts/review/reason-form.tsx';
import type { Verb } from '../../parts/review/verb.ts';
import type { May } from '../operation/row-acts.ts';
import styles from './selection-bar.module.css';

type SelectionBarProps = {
  may: May;
  /** How many are selected. */
  count: number;
  /** How many the filter finds; undefined when all of them are selected. */
  more: number | undefined;
  isReasonRequired: boolean;
  onAll: () => void;
  onClear: () => void;
  onDecide: (verb: Verb, reason: string) => void;
  onTakeOut: () => void;
};

export function SelectionBar(props: SelectionBarProps) {
  const { may, count, more, isReasonRequired, onAll, onClear, onDecide, onTakeOut } = props;
  const { t } = useLingui();
  const [asked, setAsked] = useState<Verb>();
  return (
    <section className={styles.selection} aria-label={t`Selected changes`}>
      <p className={styles.count} role="status">
        <Plural value={count} one="# selected" other="# selected" />
      </p>
      {more !== undefined && more > count && may === 'decide' && (
        <Button kind="quiet" onPress={onAll}>
          <Trans>Select all {more} that match</Trans>
        </Button>
      )}
      <span className={styles.acts}>
        {may === 'decide' && (
          <>
            <Button onPress={() => onDecide('accept', '')}>
              <Plural value={count} one="Accept #" other="Accept #" />
            </Button>
            <Button onPress={() => setAsked('reject')}>
              <Plural value={count} one="Reject #…" other="Reject #…" />
            </Button>
            <Button onPress={() => setAsked('return')}>
              <Plural value={count} one="Return #…" other="Return #…" />
            </Button>
            <Button onPress={() => onDecide('undecided', '')}>
              <Trans>Take decisions back</Trans>
            </Button>
          </>
        )}
        {may === 'edit' && (
          <Button onPress={onTakeOut}>
            <Plural value={count} one="Take # out…" other="Take # out…" />
          </Button>
        )}
        <Button kind="quiet" onPress={onClear}>
          <Trans>Select none</Trans>
        </Button>
      </span>
      {asked && (
        <ReasonForm
          key={asked}
          verb={asked}
          isRequired={isReasonRequired}
          onAnswer={(reason) => {
            setAsked(undefined);
            onDecide(asked, reason);
          }}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}
