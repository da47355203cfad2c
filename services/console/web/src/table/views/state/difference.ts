// What one sees beside what the saved view has. The address holds only the difference, so a link
// is what one sees.
import { readWithout, type TableView, type ViewMembers, viewMembers, writeWithout } from '../../../address/view.ts';

/** What an address shows, whose saved view has these members. */
export function shownMembers(saved: ViewMembers, address: TableView): ViewMembers {
  const without = readWithout(address.without);
  const shown = (name: keyof ViewMembers) => address[name] ?? (without.includes(name) ? undefined : saved[name]);
  return { q: shown('q'), filter: shown('filter'), sort: shown('sort'), columns: shown('columns') };
}

/** The members of the address that show this with the saved view. */
export function differenceTo(saved: ViewMembers, shown: ViewMembers): ViewMembers & Pick<TableView, 'without'> {
  const differing = viewMembers.filter((name) => !isSame(name, saved[name], shown[name]));
  const difference = (name: keyof ViewMembers) => (differing.includes(name) ? shown[name] : undefined);
  return {
    q: difference('q'),
    filter: difference('filter'),
    sort: difference('sort'),
    columns: difference('columns'),
    without: writeWithout(differing.filter((name) => shown[name] === undefined)),
  };
}

/** Whether an address adds something to its view, or takes something away. */
export function isDifferent(address: TableView): boolean {
  return address.without !== undefined || viewMembers.some((name) => address[name] !== undefined);
}

/** An address without its difference to the saved view. */
export const noDifference = {
  q: undefined,
  filter: undefined,
  sort: undefined,
  columns: undefined,
  without: undefined,
} as const satisfies TableView;

function isSame(name: keyof ViewMembers, one: string | undefined, other: string | undefined): boolean {
  if (one === other) return true;
  return name === 'filter' && one !== undefined && other !== undefined && canonical(one) === canonical(other);
}

// The grid lists filters, and their members, in an order of its own.
function canonical(filter: string): string {
  return JSON.stringify(JSON.parse(filter), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
