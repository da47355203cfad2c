// Dates that the file itself says are dates, for columns whose mapping says how texts hold dates: 2024-02-03 could be such a text, of
// the format YYYY-DD-MM. Pure.

/**
 * The same moment in a form that no date format is meant for, and that the data service reads as ISO (`date-formats.ts`): a day as
 * its midnight in UTC. Times of day have no other form.
 */
export function unmistakable(iso: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(iso)) return `${iso}T00:00:00.000Z`;
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(iso) ? `${iso}Z` : iso;
}
