import { Trans, useLingui } from '@lingui/react/macro';
import { useId } from 'react';
import { Button } from '../button.tsx';
import styles from './in-place.module.css';
import type { Verb } from './verb.ts';

type ReasonFormProps = {
  verb: Verb;
  isRequired: boolean;
  onAnswer: (reason: string) => void;
  onCancel: () => void;
};

/** Asks, in place, why something is rejected or returned. Enter decides, Escape doesn't. */
export function ReasonForm({ verb, isRequired, onAnswer, onCancel }: ReasonFormProps) {
  const { t } = useLingui();
  const id = useId();
  const names = { accept: t`Accept`, reject: t`Reject`, return: t`Return`, undecided: t`Take the decision back` };
  const label = verb === 'return' ? t`What its creator should change` : t`Why it is rejected, for its creator`;
  return (
    <form
      className={styles.reason}
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(String(new FormData(event.currentTarget).get('reason') ?? ''));
      }}
    >
      <label htmlFor={id}>
        {label} {!isRequired && <Trans>(optional)</Trans>}
      </label>
      <div className={styles.line}>
        <input
          id={id}
          name="reason"
          maxLength={10_000}
          required={isRequired}
          // biome-ignore lint/a11y/noAutofocus: the field is there because a key or button has asked for it.
          autoFocus
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            onCancel();
          }}
        />
        <Button type="submit" kind="primary">
          {names[verb]}
        </Button>
        <Button onPress={onCancel}>
          <Trans>Cancel</Trans>
        </Button>
      </div>
    </form>
  );
}
