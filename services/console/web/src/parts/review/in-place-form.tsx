import { type ComponentProps, type ReactNode, useId } from 'react';
import { Button } from '../button.tsx';
import formStyles from '../form/form.module.css';
import styles from './in-place.module.css';

type InPlaceFormProps = Pick<ComponentProps<'input'>, 'aria-label' | 'defaultValue' | 'maxLength' | 'required'> & {
  /** Above the field; without it `aria-label` names it. */
  label?: ReactNode;
  submit: ReactNode;
  onAnswer: (text: string) => void;
  onCancel: () => void;
  /** More buttons. */
  children?: ReactNode;
};

/** One field where it is asked for. Enter answers, Escape doesn't. */
export function InPlaceForm({ label, submit, onAnswer, onCancel, children, ...field }: InPlaceFormProps) {
  const id = useId();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(String(new FormData(event.currentTarget).get('answer') ?? ''));
      }}
    >
      {label && (
        <label htmlFor={id} className={styles.label}>
          {label}
        </label>
      )}
      <div className={styles.line}>
        <input
          {...field}
          id={id}
          name="answer"
          className={formStyles.input}
          // biome-ignore lint/a11y/noAutofocus: the field is there because a key or button has asked for it.
          autoFocus
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            onCancel();
          }}
        />
        <Button type="submit" kind="primary">
          {submit}
        </Button>
        {children}
      </div>
    </form>
  );
}
