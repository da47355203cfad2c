// The fields of forms: each with its label, its help, and what the server says about it.
import { type ReactNode, use } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField, type TextFieldProps as AriaTextFieldProps } from 'react-aria-components/TextField';
import styles from './form.module.css';
import { FieldProblems } from './form.tsx';

type TextFieldProps = Omit<AriaTextFieldProps, 'className' | 'children'> & {
  name: string;
  label: ReactNode;
  help?: ReactNode;
  /** Of several lines. */
  isLong?: boolean;
  /** Of codes: in the monospace font. */
  isCode?: boolean;
};

export function TextField({ label, help, isLong = false, isCode = false, ...props }: TextFieldProps) {
  const problems = use(FieldProblems)[props.name];
  const look = `${styles.input} ${isCode ? styles.code : ''}`;
  return (
    <AriaTextField {...props} className={styles.field as string}>
      <Label>
        {label}
        {props.isRequired && <span aria-hidden> *</span>}
      </Label>
      {isLong ? <TextArea className={look} rows={4} /> : <Input className={look} />}
      {help && (
        <Text slot="description" className={styles.help as string}>
          {help}
        </Text>
      )}
      {/* The server's words stay when the field is left: the button would move away from under the press. */}
      {problems ? (
        <Text slot="errorMessage" className={styles.error as string}>
          {problems.join(' ')}
        </Text>
      ) : (
        <FieldError className={styles.error as string} />
      )}
    </AriaTextField>
  );
}

type SelectFieldProps = {
  name: string;
  label: ReactNode;
  help?: ReactNode;
  options: { id: string; name: string }[];
  defaultValue?: string | undefined;
  onChange?: (id: string) => void;
  autoFocus?: boolean;
};

/** A choice of few; the browser's own list, which phones show in their way. */
export function SelectField({ name, label, help, options, defaultValue, onChange, ...props }: SelectFieldProps) {
  return (
    <label className={styles.field}>
      <span>{label}</span>
      <select
        {...props}
        name={name}
        className={styles.input}
        defaultValue={defaultValue}
        onChange={({ target }) => onChange?.(target.value)}
      >
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {option.name}
          </option>
        ))}
      </select>
      {help && <span className={styles.help}>{help}</span>}
    </label>
  );
}

type CheckFieldProps = {
  name: string;
  label: ReactNode;
  help?: ReactNode;
  isChecked?: boolean | undefined;
  onChange?: (isChecked: boolean) => void;
};

/** A box to tick; its value is `on`, or absent. */
export function CheckField({ name, label, help, isChecked, onChange }: CheckFieldProps) {
  return (
    <label className={styles.check}>
      <input
        type="checkbox"
        name={name}
        defaultChecked={isChecked}
        onChange={({ target }) => onChange?.(target.checked)}
      />
      <span>
        {label}
        {help && <span className={styles.help}>{help}</span>}
      </span>
    </label>
  );
}
