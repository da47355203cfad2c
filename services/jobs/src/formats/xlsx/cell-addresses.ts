// Addresses of cells in a sheet: letters for columns, numbers for rows. Pure.

/** The letters of a column; the first has index 0. */
export function lettersOf(place: number): string {
  const rest = Math.floor(place / 26);
  return (rest > 0 ? lettersOf(rest - 1) : '') + String.fromCharCode(65 + (place % 26));
}

/** The address of a cell: B7. */
export const addressOf = (place: number, row: number): string => `${lettersOf(place)}${row}`;

/** The number of a cell's column, from 1; undefined when the text is no address. */
export function columnOf(address: string | undefined): number | undefined {
  const letters = /^([A-Z]{1,3})[0-9]*$/.exec(address ?? '')?.[1];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}
