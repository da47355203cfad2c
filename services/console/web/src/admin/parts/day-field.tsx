import type { ReactNode } from 'react';
import formStyles from '../../parts/form/form.module.css';

type DayFieldProps = {
  label: ReactNode;
  day: string | undefined;
  min?: string | undefined;
  max?: string | undefined;
  onChange: (day: string | undefined) => void;
};

/** A day. It counts when one leaves the field or presses Enter, since half a date is none. */
export function DayField({ label, day, min, max, onChange }: DayFieldProps) {
  const leave = (value: string) => {
    if (value !== (day ?? '')) onChange(value || undefined);
  };
  return (
    <label className={formStyles.field}>
      <span>{label}</span>
      <input
        key={day}
        type="date"
        className={formStyles.input}
        defaultValue={day}
        min={min}
        max={max}
        onBlur={({ target }) => leave(target.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && leave(currentTarget.value)}
      />
    </label>
  );
}
