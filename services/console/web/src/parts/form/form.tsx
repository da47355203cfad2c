// Forms. The server alone judges what is entered: its problems stand at the fields that they name,
// and all of them above the form.
import { Trans } from '@lingui/react/macro';
import { createContext, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { Form as AriaForm } from 'react-aria-components/Form';
import { explainError } from '../../api/explain-error.ts';
import { Button } from '../button.tsx';
import styles from './form.module.css';

/** What the server says about each field, until the next attempt. */
export const FieldProblems = createContext<Record<string, string[]>>({});

type FormProps = {
  /** Called with the values of the fields by their names. */
  onSubmit: (values: Record<string, string>) => void;
  /** Why the last attempt failed. */
  error: unknown;
  /** The act and its size: `Send invitation`. */
  submit: ReactNode;
  isPending: boolean;
  onCancel?: (() => void) | undefined;
  children: ReactNode;
};

export function Form({ onSubmit, error, submit, isPending, onCancel, children }: FormProps) {
  // Once for each refusal: a field that was corrected since would be refused again by a new object.
  const problems = useMemo(() => problemsByField(error), [error]);
  return (
    <AriaForm
      className={styles.form as string}
      validationErrors={problems}
      onSubmit={(event) => {
        event.preventDefault();
        const entries = [...new FormData(event.currentTarget)].filter(([, value]) => typeof value === 'string');
        onSubmit(Object.fromEntries(entries) as Record<string, string>);
      }}
    >
      <Refusal error={error} />
      <FieldProblems value={problems}>{children}</FieldProblems>
      <div className={styles.actions}>
        {onCancel && (
          <Button onPress={onCancel}>
            <Trans>Cancel</Trans>
          </Button>
        )}
        <Button kind="primary" type="submit" isDisabled={isPending}>
          {submit}
        </Button>
      </div>
    </AriaForm>
  );
}

/** Why an act was refused, in the server's words; nothing without an error. It gets the focus. */
export function Refusal({ error }: { error: unknown }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) place.current?.focus();
  }, [error]);
  if (!error) return null;
  const { lines, requestId } = explainError(error);
  return (
    <div ref={place} className={styles.refusal} role="alert" tabIndex={-1}>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {requestId && (
        <p className={styles.request}>
          <Trans>Request</Trans> <code>{requestId}</code>
        </p>
      )}
    </div>
  );
}

function problemsByField(error: unknown): Record<string, string[]> {
  const { problems } = (typeof error === 'object' && error !== null ? error : {}) as { problems?: unknown };
  const found: Record<string, string[]> = {};
  for (const { field, message } of Array.isArray(problems) ? problems : [])
    if (typeof field === 'string') found[field] = [...(found[field] ?? []), String(message)];
  return found;
}
