// What the server finds for the text of the palette: rows of the branch, and changes by number or
// title.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client, type Schemas } from '../api/client.ts';

/** The server takes no shorter text. */
const shortestText = 2;
const longestText = 100;
// Long enough for a word; the server searches once one has stopped typing.
const typingMs = 150;

export type FoundRow = { table: string; tableKey: string; id: number; name: string };
export type FoundChange = { kind: 'change_request' | 'promotion' | 'deployment'; id: number; title: string | null };
export type Found = { rows: FoundRow[]; changes: FoundChange[] };

const nothing: Found = { rows: [], changes: [] };

const foundQuery = (branchId: number, q: string) =>
  queryOptions({
    queryKey: ['found', branchId, q],
    queryFn: async ({ signal }): Promise<Found> => {
      const [rows, things] = await Promise.all([
        client.get('/table_data/search', { params: { query: { q, branch_id: branchId } }, signal }),
        client.get('/search', { params: { query: { q } }, signal }),
      ]);
      return { rows: rows.tables.flatMap(rowsOf), changes: changesOf(things) };
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });

/** What is found for the text once the typing rests, and whether more may come. */
export function useFound(branchId: number | undefined, typed: string): { found: Found; isSearching: boolean } {
  const text = typed.trim();
  const [q, setQ] = useState('');
  useEffect(() => {
    const rest = setTimeout(() => setQ(text), typingMs);
    return () => clearTimeout(rest);
  }, [text]);
  const isAsked = branchId !== undefined && isSearchable(q);
  const { data, isFetching } = useQuery({ ...foundQuery(branchId ?? 0, q), enabled: isAsked });
  const isSearching = isSearchable(text) && (q !== text || isFetching);
  return { found: isAsked && isSearchable(text) ? (data ?? nothing) : nothing, isSearching };
}

const isSearchable = (text: string) => text.length >= shortestText && text.length <= longestText;

function rowsOf({ name, table_definition_key, rows }: Schemas['FoundTableRows']): FoundRow[] {
  return rows.map(({ id, key, label, text }) => {
    const named = [Object.values(key).join(' '), label].filter((part) => part !== '');
    const shown = [...new Set(named)].join(' · ');
    return {
      table: name,
      tableKey: table_definition_key,
      id,
      name: shown.includes(text) ? shown : `${shown} · ${text}`,
    };
  });
}

function changesOf({ change_requests, promotions, deployments }: Schemas['Found']): FoundChange[] {
  return [
    ...change_requests.map(({ id, title }): FoundChange => ({ kind: 'change_request', id, title })),
    ...promotions.map(({ id, comment }): FoundChange => ({ kind: 'promotion', id, title: comment })),
    ...deployments.map(({ id, comment }): FoundChange => ({ kind: 'deployment', id, title: comment })),
  ];
}
