import { Trans, useLingui } from '@lingui/react/macro';
import { Button } from '../button.tsx';
import { InPlaceForm } from './in-place-form.tsx';
import type { Verb } from './verb.ts';

type ReasonFormProps = {
  verb: Verb;
  isRequired?: boolean;
  onAnswer: (reason: string) => void;
  onCancel: () => void;
};

/** Asks, in place, why something is rejected or returned. Enter decides, Escape doesn't. */
export function ReasonForm({ verb, isRequired = false, onAnswer, onCancel }: ReasonFormProps) {
  const { t } = useLingui();
  const names = { accept: t`Accept`, reject: t`Reject`, return: t`Return`, undecided: t`Take the decision back` };
  const label = verb === 'return' ? t`What its creator should change` : t`Why it is rejected, for its creator`;
  return (
    <InPlaceForm
      label={
        <>
          {label} {!isRequired && <Trans>(optional)</Trans>}
        </>
      }
      maxLength={10_000}
      required={isRequired}
      submit={names[verb]}
      onAnswer={onAnswer}
      onCancel={onCancel}
    >
      <Button onPress={onCancel}>
        <Trans>Cancel</Trans>
      </Button>
    </InPlaceForm>
  );
}
