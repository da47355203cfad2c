// The mapping of the wizard: guessed by the system from the beginning of the file, or one that was
// used or saved before.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import type { Table } from '../../api/queries.ts';
import { mappingsQuery } from '../queries.ts';
import { readSample, type Sample } from '../sample/read-sample.ts';
import type { Draft } from './draft.ts';
import { type KeptMapping, keptMapping } from './kept-mappings.ts';
import { fitMapping, fits, forPattern, type Mapping } from './mapping.ts';

type Guess = Schemas['SuggestImportMappingResult'];
type Saved = Schemas['ImportMapping'];

const fileKey = ({ name, size, lastModified }: File) => [name, size, lastModified];

const sampleQuery = (file: File) =>
  queryOptions({
    queryKey: ['sample', ...fileKey(file)],
    queryFn: () => readSample(file),
    staleTime: Number.POSITIVE_INFINITY,
  });

const guessQuery = (file: File, sample: Sample | undefined, tableId: number, hasHeader: boolean) =>
  queryOptions({
    queryKey: ['import_mappings', 'guess', tableId, hasHeader, ...fileKey(file)],
    queryFn: async ({ signal }): Promise<Guess | null> => {
      if (sample === undefined || sample.kind === 'hidden') return null;
      const body = { table_definition_id: tableId, sample: sample.text, has_header: hasHeader };
      return client.post('/import_mappings/suggest', { body, signal });
    },
    enabled: sample !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

export type ChosenMapping = {
  sample: Sample;
  /** Null where the file can't be shown before it is uploaded. */
  guess: Guess | null;
  saved: Saved[];
  last: KeptMapping | undefined;
  /** `guess`, `last`, or the id of a saved one; `names`: the columns go by their names. */
  source: string;
  /** Undefined where only the system knows the columns of the file. */
  mapping: Mapping | undefined;
};

export function useMapping(file: File, table: Table, draft: Draft) {
  const sample = useQuery(sampleQuery(file));
  const guess = useQuery(guessQuery(file, sample.data, table.id, draft.hasHeader));
  const saved = useQuery(mappingsQuery(table.id));
  const retry = () => void Promise.all([guess.refetch(), saved.refetch()]);
  const error = sample.error ?? guess.error ?? saved.error;
  if (sample.data === undefined || guess.data === undefined || saved.data === undefined)
    return { error, retry, chosen: undefined };
  const known = { sample: sample.data, guess: guess.data, saved: saved.data, last: keptMapping(table.key) };
  return { error, retry, chosen: choose(known, draft) };
}

type Known = Omit<ChosenMapping, 'source' | 'mapping'>;

function choose(known: Known, { source, mapping, pattern }: Draft): ChosenMapping {
  const { sample, guess, saved, last } = known;
  if (guess === null) {
    const byDefault = saved.find(({ is_default }) => is_default);
    return { ...known, source: source ?? String(byDefault?.id ?? 'names'), mapping: undefined };
  }
  const guessed = mappingOf(guess, sample);
  const options: [string, Mapping][] = [
    ...(last === undefined ? [] : [['last', last.mapping] satisfies [string, Mapping]]),
    ...saved.map((one): [string, Mapping] => [String(one.id), one]),
  ];
  const fitting = options.filter(([, before]) => fits(guessed, before));
  // A saved one is used on its own only when it is the default of the table.
  const best = fitting.find(([id]) => id === 'last' || saved.some((one) => String(one.id) === id && one.is_default));
  const chosen = source ?? best?.[0] ?? 'guess';
  const before = options.find(([id]) => id === chosen)?.[1];
  const shown = mapping ?? (before ? fitMapping(guessed, before) : guessed);
  return { ...known, source: chosen, mapping: forPattern(shown, pattern) };
}

/** Whether the file is text with separators, in which numbers may be written in other ways. */
export function isSeparated({ guess, sample }: Pick<ChosenMapping, 'guess' | 'sample'>): boolean {
  return sample.kind === 'text' && (guess?.format === 'csv' || guess?.format === 'tsv');
}

/** The mapping of a guess, without the delimiter of its sample where the file itself has none. */
export function mappingOf(guess: Guess, sample: Sample): Mapping {
  const { table_definition_id: _table, ...mapping } = guess.import_mapping;
  if (isSeparated({ guess, sample })) return mapping;
  return { ...mapping, delimiter: null, quote: null, decimal_separator: null };
}
