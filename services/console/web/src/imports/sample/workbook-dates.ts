// Dates in workbooks are numbers of days whose cells have a format of dates.

const builtIn = (id: number) => (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47);

/** Whether numbers of this format are dates or times: by its number, else by its own code. */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return builtIn(id);
  // Texts in quotes, escaped signs, colours and conditions say nothing about it.
  const bare = code.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, '');
  return /[dmyhs]/i.test(bare) && !/^general$/i.test(bare.trim());
}

const dayMs = 86_400_000;

/** A number of days as an ISO date, with the time of day if it has one. */
export function serialDate(days: number, is1904: boolean): string {
  // Excel has a 29 February 1900, which never was: days before it are one further on.
  const shifted = is1904 ? days + 1_462 : days < 60 ? days + 1 : days;
  const date = new Date(Date.UTC(1899, 11, 30) + Math.round(shifted * 86_400) * 1_000);
  if (Number.isNaN(date.getTime())) return String(days);
  const text = date.toISOString().slice(0, 19);
  return date.getTime() % dayMs === 0 ? text.slice(0, 10) : text;
}
