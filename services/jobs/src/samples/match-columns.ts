// Matches the columns of a sample with columns of a table, by name and by their values, and decides
// how they are read. What the sample does not prove is left out of the mapping and reported. Pure.
import { foldName } from '../formats/table-file/column-names.ts';
import { systemColumns, transactionCode } from '../import-mappings/column-plan.ts';
import { type ColumnMapping, completeEntry } from '../import-mappings/mapping.ts';
import type { MappedColumn, ReferencedTable } from '../import-mappings/mapping-checks.ts';
import { type ComparedName, readName, similarityTo } from './name-similarity.ts';
import { isPadded, type Sample } from './read-sample.ts';
import { formatIn } from './sample-dates.ts';
import { type ColumnTraits, readStyle, type SampleStyle } from './sample-style.ts';

/** A column of the table, and the table that it refers to. */
export type TargetColumn = MappedColumn & {
  refersTo?: ReferencedTable | undefined;
};

export type ColumnMatches = {
  style: SampleStyle;
  entries: { entry: ColumnMapping; confidence: number; notes: string[] }[];
  unmatchedTargets: string[];
  /** Decisions that a person has to take before the mapping can be used; sentences. */
  questions: string[];
};

/** Less likely matches are not suggested. */
const threshold = 0.6;

/**
 * One entry for each column of the sample, in order; a null target: no column matches.
 * `defaultOrder` applies to dates that prove no order.
 */
export function matchColumns(
  sample: Sample,
  targets: readonly TargetColumn[],
  hasHeader: boolean,
  defaultOrder?: 'DMY' | 'MDY',
): ColumnMatches {
  const style = readStyle(sample, defaultOrder);
  const matches = hasHeader ? byName(sample, targets, style) : byPosition(sample, targets);
  const entries = sample.header.map((source, position) => {
    const match = matches.get(position);
    const entry = completeEntry({ source_column: source, trim: match !== undefined && isPadded(sample, position) });
    if (!match) return { entry, confidence: 0, notes: [] };
    const { target, score } = match;
    entry.target_column = target.name;
    const notes: string[] = [];
    const traits = style.columns[position] as ColumnTraits;
    if (isDated(target) && traits.dates) {
      entry.format = formatFor(target, traits, style);
      if (style.ambiguousDates.includes(source)) notes.push('The sample does not tell day from month.');
    }
    const lookup = lookupFor(source, target, traits);
    if (lookup) {
      entry.lookup = lookup;
      notes.push(`Its values look like names of ${target.refersTo?.name}, not like its key.`);
    }
    if (!fitsType(target, traits, entry.lookup)) notes.push(misfitNote(target));
    return { entry, confidence: Math.round(score * 100) / 100, notes };
  });
  const matched = new Set(entries.map(({ entry }) => entry.target_column));
  return {
    style,
    entries,
    unmatchedTargets: targets.filter(({ name }) => !matched.has(name)).map(({ name }) => name),
    questions: questionsOf(
      style,
      entries.map(({ entry }) => entry),
      targets,
    ),
  };
}

const misfitNote = ({ data_type }: TargetColumn) =>
  `Its values do not look like ${data_type}.${data_type === 'boolean' ? ' Say in a value_map what they stand for.' : ''}`;

type Match = { target: TargetColumn; score: number };
const transactionCodeColumn: TargetColumn = {
  name: transactionCode,
  data_type: 'string',
  is_primary_key: false,
  valid_values: [],
};

// The likeliest pairs first; each column is used once.
function byName(sample: Sample, targets: readonly TargetColumn[], style: SampleStyle): Map<number, Match> {
  const likeliest = likeliestTargets(targets);
  const pairs = sample.header.flatMap((source, position) => {
    if (systemColumns.has(foldName(source))) return [];
    if (foldName(source) === transactionCode) return [{ position, target: transactionCodeColumn, score: 1 }];
    return likeliest(readName(source)).map((match) => ({ position, ...match }));
  });
  const matches = new Map<number, Match>();
  const taken = new Set<string>();
  for (const { position, target, score } of pairs.toSorted((a, b) => b.score - a.score)) {
    if (matches.has(position) || taken.has(target.name)) continue;
    const traits = style.columns[position] as ColumnTraits;
    // A similar name alone does not match when the values contradict it.
    const source = sample.header[position] as string;
    if (score < 1 && !fitsType(target, traits, lookupFor(source, target, traits) ?? false)) continue;
    matches.set(position, { target, score });
    taken.add(target.name);
  }
  return matches;
}

/** At most this many targets are compared with the values of a column. */
const maxCandidates = 20;

function likeliestTargets(targets: readonly TargetColumn[]): (name: ComparedName) => Match[] {
  const own = similarityTo(targets.map(({ name }) => readName(name)));
  const others = targets.flatMap((target, i) => otherNames(target).map((name) => ({ i, name: readName(name) })));
  const byOthers = similarityTo(others.map(({ name }) => name));
  return (name) => {
    const scores = own(name);
    for (const [place, similarity] of byOthers(name).entries()) {
      const { i } = others[place] as { i: number };
      scores[i] = Math.max(scores[i] as number, 0.95 * similarity);
    }
    return targets
      .map((target, i) => ({ target, score: scores[i] as number }))
      .filter(({ score }) => score >= threshold)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, maxCandidates);
  };
}

// Without a header only the order is left, if both have the same number of columns.
function byPosition({ header }: Sample, targets: readonly TargetColumn[]): Map<number, Match> {
  if (header.length !== targets.length) return new Map();
  return new Map(targets.map((target, position) => [position, { target, score: threshold }]));
}

const idEnding = /(?:[ _-](?:id|key|code|no|nr|sk)|(?<=[a-z])(?:Id|Key|Code))$/i;

// A foreign key may be named after its target: country_id, country, Country name, Countries. Only
// likely names are compared.
function otherNames(target: TargetColumn): string[] {
  if (!target.refersTo) return [];
  const stem = target.name.replace(idEnding, '');
  const { name, columns } = target.refersTo;
  const candidates = columns.filter((column) => column.is_primary_key || isText(column)).slice(0, maxComparedColumns);
  return [stem, name, ...candidates.map((column) => `${stem} ${column.name}`)];
}

const maxComparedColumns = 5;

const isDated = ({ data_type }: MappedColumn) =>
  ['date', 'datetime', 'timestamp', 'timestamptz', 'time'].includes(data_type);

// A column of timestamps accepts days only with a pattern, which turns them into midnights.
function formatFor(target: MappedColumn, { dates }: ColumnTraits, style: SampleStyle): string | null {
  if (!dates) return null;
  const format = formatIn(dates, style.dateStyle);
  if (format !== null || dates.kind !== 'date' || target.data_type === 'date') return format;
  const order = dates.order === 'DMY' || dates.order === 'MDY' ? dates.order : style.dateStyle;
  if (dates.order === 'none') return dates.format('DMY') ?? 'YYYY-MM-DD';
  return order ? dates.format(order) : null;
}

const wholeNumbers = new Set(['integer', 'bigint', 'smallint']);
const isNumber = ({ data_type }: MappedColumn) =>
  wholeNumbers.has(data_type) || ['decimal', 'real', 'double'].includes(data_type);

/**
 * Whether cells hold no keys of the referenced table. True: they hold its display value; a name:
 * another of its columns, which the source is named after or which fits them.
 */
function lookupFor(
  source: string,
  { refersTo }: TargetColumn,
  { cells, numbers }: ColumnTraits,
): ColumnMapping['lookup'] | undefined {
  const keys = refersTo?.columns.filter(({ is_primary_key }) => is_primary_key) ?? [];
  const [key] = keys;
  if (!refersTo || !key || keys.length > 1 || cells.length === 0) return undefined;
  if (fitsLength(key, cells) && !(isNumber(key) && !numbers)) return undefined;
  const others = refersTo.columns.filter((each) => !each.is_primary_key && isText(each) && fitsLength(each, cells));
  const called = similarityToColumns(refersTo)(readName(source.replace(/^.*[ _-]/, '')));
  const same = others.find((column) => (called.get(column) ?? 0) >= sameNameScore);
  if (same) return same.name;
  const chosen = refersTo.columns.find(({ id }) => id !== undefined && id === refersTo.lookup_display_column_id);
  if (chosen && fitsLength(chosen, cells)) return true;
  return (others.find(({ name }) => /name|title|label/i.test(name)) ?? others[0])?.name ?? true;
}

const sameNameScore = 0.95;

const similarityCache = new WeakMap<ReferencedTable, (name: ComparedName) => Map<MappedColumn, number>>();

/** Similarity of a name to the column names of the referenced table, which are prepared once. */
function similarityToColumns(table: ReferencedTable): (name: ComparedName) => Map<MappedColumn, number> {
  const known = similarityCache.get(table);
  if (known) return known;
  const similarity = similarityTo(table.columns.map(({ name }) => readName(name)));
  const compare = (name: ComparedName) => {
    const scores = similarity(name);
    return new Map(table.columns.map((column, i) => [column, scores[i] as number]));
  };
  similarityCache.set(table, compare);
  return compare;
}

const isText = ({ data_type }: MappedColumn) => data_type === 'string' || data_type === 'text';
const fitsLength = ({ data_type, length }: MappedColumn, cells: string[]) =>
  data_type !== 'string' || !length || longestOf(cells) <= length;

const lengthCache = new WeakMap<string[], number>();

// Cached, since the cells of a column are compared with many targets.
function longestOf(cells: string[]): number {
  let longest = lengthCache.get(cells);
  if (longest === undefined) {
    longest = cells.reduce((most, cell) => Math.max(most, [...cell].length), 0);
    lengthCache.set(cells, longest);
  }
  return longest;
}

const forms = {
  number: /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i,
  day: /^\d{8}$/,
  boolean: /^(?:true|false)$/i,
  uuid: /^[0-9a-f-]{36}$/i,
};
const formCache = new WeakMap<string[], Map<keyof typeof forms, boolean>>();

function areAll(cells: string[], form: keyof typeof forms): boolean {
  const known = formCache.get(cells) ?? new Map<keyof typeof forms, boolean>();
  formCache.set(cells, known);
  const found = known.get(form) ?? cells.every((cell) => forms[form].test(cell));
  known.set(form, found);
  return found;
}

function fitsType(
  target: MappedColumn,
  { cells, dates, numbers }: ColumnTraits,
  lookup: ColumnMapping['lookup'],
): boolean {
  if (cells.length === 0 || lookup !== false) return true;
  if (isNumber(target)) return numbers !== undefined || areAll(cells, 'number');
  if (isDated(target)) return dates !== undefined || areAll(cells, 'day');
  if (target.data_type === 'boolean') return areAll(cells, 'boolean');
  if (target.data_type === 'uuid') return areAll(cells, 'uuid');
  return true;
}

function questionsOf(style: SampleStyle, entries: ColumnMapping[], targets: readonly TargetColumn[]): string[] {
  const mapped = new Map(targets.map((target) => [target.name, target]));
  // Of columns with equal names the first counts.
  const targetOf = new Map(entries.toReversed().map((entry) => [entry.source_column, entry.target_column]));
  const goes = (source: string, test: (target: MappedColumn) => boolean) => {
    const target = mapped.get(targetOf.get(source) ?? '');
    return target !== undefined && test(target);
  };
  const dates = style.ambiguousDates.filter((source) => goes(source, isDated));
  const traitsOf = new Map(
    entries.map(({ source_column }, position) => [source_column, style.columns[position]?.dates]),
  );
  const byStyle = dates.filter(
    (source) => traitsOf.get(source)?.isReadByStyle && goes(source, ({ data_type }) => data_type === 'date'),
  );
  const byFormat = dates.filter((source) => !byStyle.includes(source));
  const numbers = style.ambiguousNumbers.filter((source) => goes(source, isNumber));
  return [
    ...(byStyle.length === 0 ? [] : [`Is ${byStyle.join(', ')} day or month first? Set date_style to DMY or MDY.`]),
    ...byFormat.map(
      (source) =>
        `Is ${source} day or month first? Set its format to ${traitsOf.get(source)?.format('DMY')} or ${traitsOf.get(source)?.format('MDY')}.`,
    ),
    ...(numbers.length === 0
      ? []
      : [`Does ${numbers.join(', ')} hold decimals or groups of three digits? Set decimal_separator.`]),
    ...(style.hasBothSeparators
      ? [
          'Some numbers have a decimal point and some a comma; a mapping reads one of them. Make them alike in the file.',
        ]
      : []),
  ];
}
