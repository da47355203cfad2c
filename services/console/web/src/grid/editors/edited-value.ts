/** What an editor answers: a value, and what it shows where it was chosen by a label. */
export type EditedValue = { value: unknown; label: string | undefined };
