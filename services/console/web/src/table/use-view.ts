// The view in the address: what of the table is shown.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import {
  type Filters,
  readFilters,
  readSort,
  type SortOrder,
  type TableView,
  writeFilters,
  writeSort,
} from '../address/view.ts';

export type ShownView = {
  q: string | undefined;
  asOf: string | undefined;
  row: number | undefined;
  filters: Filters;
  sort: SortOrder[];
};

export type ViewChange = Partial<ShownView>;

/** The view, and how to change parts of it. A step that one may want to go back from is kept. */
export function useView(): { view: ShownView; change: (part: ViewChange, step?: 'kept' | 'replaced') => void } {
  const { q, as_of: asOf, row, filter, sort } = useSearch({ from: '/t/$key' });
  const navigate = useNavigate({ from: '/t/$key' });
  // Made from the texts, so that they stay the same objects while the address says the same.
  const filters = useMemo(() => readFilters(filter), [filter]);
  const orders = useMemo(() => readSort(sort), [sort]);
  const change = (part: ViewChange, step: 'kept' | 'replaced' = 'kept') =>
    void navigate({ to: '.', search: (search) => ({ ...search, ...memberOf(part) }), replace: step === 'replaced' });
  return { view: { q, asOf, row, filters, sort: orders }, change };
}

function memberOf(part: ViewChange): TableView {
  return {
    ...('q' in part && { q: part.q }),
    ...('asOf' in part && { as_of: part.asOf }),
    ...('row' in part && { row: part.row }),
    ...('filters' in part && { filter: writeFilters(part.filters ?? {}) }),
    ...('sort' in part && { sort: writeSort(part.sort ?? []) }),
  };
}
