// What of the table is shown: the saved view of the address, with the difference that it has to it.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { type ColumnLayout, readLayout, writeLayout } from '../address/column-layout.ts';
import {
  type Filters,
  readFilters,
  readSort,
  type SortOrder,
  type TableView,
  type ViewMembers,
  writeFilters,
  writeSort,
} from '../address/view.ts';
import type { Table } from '../api/queries.ts';
import { differenceTo, shownMembers } from './views/state/difference.ts';
import { type ChosenView, useChosenView } from './views/use-chosen-view.ts';

export type ShownView = {
  q: string | undefined;
  asOf: string | undefined;
  row: number | undefined;
  filters: Filters;
  sort: SortOrder[];
  columns: ColumnLayout;
};

export type ViewChange = Partial<ShownView>;

export type OpenView = {
  view: ShownView;
  /** The same without what is not saved: the instant and the row. */
  members: ViewMembers;
  chosen: ChosenView;
  /** A step that one may want to go back from is kept. */
  change: (part: ViewChange, step?: 'kept' | 'replaced') => void;
};

/** The view, and how to change parts of it. */
export function useView(table: Table): OpenView {
  const address = useSearch({ from: '/t/$key' });
  const navigate = useNavigate({ from: '/t/$key' });
  const chosen = useChosenView(table);
  const { saved, isSettled } = chosen;
  const wanted = shownMembers(saved, address);
  // While another view loads, the one before stays.
  const [kept, setKept] = useState(wanted);
  const members = isSettled ? wanted : kept;
  if (isSettled && JSON.stringify(kept) !== JSON.stringify(wanted)) setKept(wanted);
  const { q, filter, sort, columns } = members;
  const { as_of: asOf, row } = address;
  // Made from the texts, so that they stay the same objects while the view shows the same.
  const filters = useMemo(() => readFilters(filter), [filter]);
  const orders = useMemo(() => readSort(sort), [sort]);
  const layout = useMemo(() => readLayout(columns), [columns]);
  const change = (part: ViewChange, step: 'kept' | 'replaced' = 'kept') =>
    void navigate({
      to: '.',
      search: (search) => ({
        ...search,
        ...changed(search, membersOf(part), isSettled ? saved : undefined),
        ...('asOf' in part && { as_of: part.asOf }),
        ...('row' in part && { row: part.row }),
      }),
      replace: step === 'replaced',
    });
  return { view: { q, asOf, row, filters, sort: orders, columns: layout }, members, chosen, change };
}

function changed(address: TableView, part: ViewMembers, saved: ViewMembers | undefined): TableView {
  // What the saved view has is not known yet: then all that is set is a difference.
  if (!saved || Object.keys(part).length === 0) return part;
  return differenceTo(saved, { ...shownMembers(saved, address), ...part });
}

function membersOf(part: ViewChange): ViewMembers {
  return {
    ...('q' in part && { q: part.q }),
    ...('filters' in part && { filter: writeFilters(part.filters ?? {}) }),
    ...('sort' in part && { sort: writeSort(part.sort ?? []) }),
    ...('columns' in part && { columns: writeLayout(part.columns ?? []) }),
  };
}
