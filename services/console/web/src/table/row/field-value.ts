// What is typed into the field of a column, as the API takes it.
import type { Column } from '../../api/queries.ts';
import { readTyped, type TypingHabits } from '../../cells/typed-values.ts';

/** The value of a field; throws for a JSON value that is none. */
export function readField(text: string, column: Column, habits: TypingHabits): unknown {
  return column.data_type === 'json' && text !== '' ? JSON.parse(text) : readTyped(text, column, habits);
}

/** Browsers send line breaks of forms as CR LF. */
export const plainLines = (text: string): string => text.replaceAll('\r\n', '\n');
