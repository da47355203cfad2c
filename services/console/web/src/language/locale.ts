/**
 * The locale for dates and numbers, shown and typed: the browser's, where it is of the language, as
 * 03/04 is a day in April in London and one in March in Boston. The pseudo-locale is English.
 */
export function localeOf(language: string, preferred: readonly string[] = navigator.languages): string {
  if (language === 'pseudo') return 'en';
  return preferred.find((tag) => tag.split('-')[0] === language) ?? language;
}
