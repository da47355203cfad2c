// Dates that a file itself marks as dates, for columns whose mapping has a format for dates in
// texts: 2024-02-03 could be such a text, in the format YYYY-DD-MM. Pure.

/**
 * The same instant in a form that no date format matches and that data reads as ISO
 * (`date-formats.ts`): a day becomes its midnight in UTC. Times of day have no other form.
 */
export function toExplicitInstant(iso: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(iso)) return `${iso}T00:00:00.000Z`;
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(iso) ? `${iso}Z` : iso;
}
