// The saved view of the address, or the one that the table opens with.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import type { ViewMembers } from '../../address/view.ts';
import { explainError } from '../../api/explain-error.ts';
import type { Table } from '../../api/queries.ts';
import { isDifferent } from './state/difference.ts';
import { membersOf, missingColumns, withoutColumns } from './state/view-state.ts';
import { type View, type ViewDetails, viewQuery, viewsQuery } from './view-queries.ts';

export type ChosenView = {
  /** All that the person sees, by name. */
  views: View[];
  /** Undefined for all rows, and for a view that is not there. */
  view: ViewDetails | undefined;
  /** What the saved view shows; nothing for all rows. */
  saved: ViewMembers;
  /** False while it is not known yet which rows to show. */
  isSettled: boolean;
  /** The view of the address was deleted, or is another user's private one. */
  isMissing: boolean;
  /** Columns that the view filters or sorts by, and that the table no longer has. */
  missingColumns: string[];
  /** The views did not load. */
  error: unknown;
  retry: () => void;
};

const nothing: ViewMembers = {};

export function useChosenView(table: Table): ChosenView {
  const search = useSearch({ from: '/t/$key' });
  const queries = useQueryClient();
  const list = useQuery(viewsQuery(table.table_definition_id));
  const id = typeof search.view === 'number' ? search.view : undefined;
  const one = useQuery({ ...viewQuery(id ?? 0), enabled: id !== undefined });
  const view = id === undefined ? undefined : one.data;
  const opening =
    search.view === undefined ? viewToOpen(openingView(table, list.data), isDifferent(search)) : undefined;
  useOpening(opening);

  const { members, missing } = useMemo(() => {
    if (!view) return { members: nothing, missing: [] };
    const members = membersOf(view.state);
    const names = table.column_definitions.map(({ name }) => name);
    const missing = missingColumns(members, names);
    return { members: withoutColumns(members, missing), missing };
  }, [view, table]);

  const isMissing = id !== undefined && explainError(one.error).status === 404;
  return {
    views: list.data ?? [],
    view,
    saved: members,
    isSettled: id === undefined ? opening === undefined : !!view || isMissing,
    isMissing,
    missingColumns: missing,
    error: (isMissing || view ? null : one.error) ?? list.error,
    retry: () => void queries.invalidateQueries({ queryKey: ['views'] }),
  };
}

/** The view that a table opens with: the table says so first, its views are read later. */
function openingView(table: Table, views: View[] | undefined): number | null {
  if (!views) return table.opening_view_id ?? null;
  const opening = views.find(({ is_own_default }) => is_own_default) ?? views.find(({ is_default }) => is_default);
  return opening?.id ?? null;
}

/** What an address without a view stands for, where the table opens with a saved one. */
function viewToOpen(opening: number | null, differs: boolean): number | 'all' | undefined {
  if (opening === null) return undefined;
  // A link with filters and without a view was made from all rows.
  return differs ? 'all' : opening;
}

function useOpening(view: number | 'all' | undefined): void {
  const navigate = useNavigate({ from: '/t/$key' });
  useEffect(() => {
    if (view !== undefined) void navigate({ to: '.', search: (search) => ({ ...search, view }), replace: true });
  }, [view, navigate]);
}
