// How the columns of a table are laid out: their order, and what differs from how they usually are.

export type ColumnPlace = {
  column: string;
  width?: number | undefined;
  hidden?: true | undefined;
  /** `none`: not pinned, though the column usually is. */
  pinned?: 'left' | 'right' | 'none' | undefined;
};

/** All columns in their order; empty when they are as usual. */
export type ColumnLayout = readonly ColumnPlace[];

const narrowest = 20;
const widest = 5_000;

/** The layout of an address, such as `code,name:240`. What cannot be read is left out. */
export function readLayout(text: string | undefined): ColumnLayout {
  const places = (text ?? '').split(',').map(readPlace);
  return distinct(places.filter((place) => place !== undefined));
}

/** Undefined when the columns are as usual, so that the address has no empty member. */
export function writeLayout(layout: ColumnLayout): string | undefined {
  return layout.length > 0 ? layout.map(writePlace).join(',') : undefined;
}

/** A place of a stored layout; undefined when it is none. */
export function placeOf(value: unknown): ColumnPlace | undefined {
  const { column, width, hidden, pinned } = (typeof value === 'object' && value !== null ? value : {}) as {
    [name in keyof ColumnPlace]: unknown;
  };
  if (typeof column !== 'string' || column === '') return undefined;
  return {
    column,
    ...(typeof width === 'number' && isWidth(width) && { width: Math.round(width) }),
    ...(hidden === true && { hidden }),
    ...((pinned === 'left' || pinned === 'right' || pinned === 'none') && { pinned }),
  };
}

/** The places of all these columns; those that the layout doesn't name come last. */
export function completed(layout: ColumnLayout, names: readonly string[]): ColumnLayout {
  const named = layout.filter(({ column }) => names.includes(column));
  const others = names.filter((name) => !named.some(({ column }) => column === name));
  return [...named, ...others.map((column) => ({ column }))];
}

/** These places, or nothing when each column is where and as it usually is. */
export function unlessUsual(places: ColumnLayout, names: readonly string[]): ColumnLayout {
  const isUsual = places.every((place, at) => place.column === names[at] && Object.keys(place).length === 1);
  return isUsual ? [] : places;
}

/** Without the places of columns that came before. */
export function distinct(places: readonly ColumnPlace[]): ColumnLayout {
  return places.filter(({ column }, at) => places.findIndex((place) => place.column === column) === at);
}

function readPlace(text: string): ColumnPlace | undefined {
  const [name = '', ...marks] = text.split(':');
  const width = marks.map(Number).find(isWidth);
  const pinned = marks.find((mark) => mark === 'left' || mark === 'right' || mark === 'none');
  return placeOf({ column: decode(name), width, hidden: marks.includes('hidden'), pinned });
}

// A name may have the signs that separate; encoded it has none of them.
const writePlace = ({ column, width, hidden, pinned }: ColumnPlace) =>
  [encodeURIComponent(column), width, hidden && 'hidden', pinned].filter((part) => part !== undefined).join(':');

const isWidth = (width: number) => width >= narrowest && width <= widest;

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return '';
  }
}
