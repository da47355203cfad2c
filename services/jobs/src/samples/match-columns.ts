// Proposes a mapping from a sample of a file: which column goes where, by name and by what its values could be, and how they are to be
// read. What the sample doesn't prove is left out of the mapping and named. Pure.
import { foldName } from '../formats/table-file/column-names.ts';
import { systemColumns, transactionCode } from '../import-mappings/column-plan.ts';
import { type ColumnMapping, wholeEntry } from '../import-mappings/mapping.ts';
import type { MappedColumn, ReferencedTable } from '../import-mappings/mapping-checks.ts';
import { type ComparedName, likenessTo, readName } from './name-likeness.ts';
import { isPadded, type Sample } from './read-sample.ts';
import { formatIn } from './sample-dates.ts';
import { type ColumnLook, readStyle, type SampleStyle } from './sample-style.ts';

/** A column of the table, and of what it refers to the table's name, its key and the columns that may be looked up by. */
export type SuggestedTarget = MappedColumn & {
  refersTo?: ReferencedTable | undefined;
};

export type Suggestion = {
  style: SampleStyle;
  entries: { entry: ColumnMapping; confidence: number; notes: string[] }[];
  unmatchedTargets: string[];
  /** What somebody has to decide before the mapping can be used; sentences. */
  questions: string[];
};

/** Less likely matches are not proposed. */
const threshold = 0.6;

/**
 * One entry for each column of the sample, in its order; a target of null: it fits nothing.
 * `usual`: how dates are written else.
 */
export function suggestMapping(
  sample: Sample,
  targets: readonly SuggestedTarget[],
  hasHeader: boolean,
  usual?: 'DMY' | 'MDY',
): Suggestion {
  const style = readStyle(sample, usual);
  const matches = hasHeader ? byName(sample, targets, style) : byPlace(sample, targets);
  const entries = sample.header.map((source, position) => {
    const match = matches.get(position);
    const entry = wholeEntry({ source_column: source, trim: match !== undefined && isPadded(sample, position) });
    if (!match) return { entry, confidence: 0, notes: [] };
    const { target, score } = match;
    entry.target_column = target.name;
    const notes: string[] = [];
    const look = style.columns[position] as ColumnLook;
    if (isDated(target) && look.dates) {
      entry.format = formatFor(target, look, style);
      if (style.ambiguousDates.includes(source)) notes.push('The sample does not tell day from month.');
    }
    const lookup = lookupFor(source, target, look);
    if (lookup) {
      entry.lookup = lookup;
      notes.push(`Its values look like names of ${target.refersTo?.name}, not like its key.`);
    }
    if (!suits(target, look, entry.lookup)) notes.push(misfit(target));
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

const misfit = ({ data_type }: SuggestedTarget) =>
  `Its values do not look like ${data_type}.${data_type === 'boolean' ? ' Say in a value_map what they stand for.' : ''}`;

type Match = { target: SuggestedTarget; score: number };
const code: SuggestedTarget = { name: transactionCode, data_type: 'string', is_primary_key: false, valid_values: [] };

// The likeliest pairs first; each column of either side once.
function byName(sample: Sample, targets: readonly SuggestedTarget[], style: SampleStyle): Map<number, Match> {
  const likeliest = likeliestTargets(targets);
  const pairs = sample.header.flatMap((source, position) => {
    if (systemColumns.has(foldName(source))) return [];
    if (foldName(source) === transactionCode) return [{ position, target: code, score: 1 }];
    return likeliest(readName(source)).map((match) => ({ position, ...match }));
  });
  const matches = new Map<number, Match>();
  const taken = new Set<string>();
  for (const { position, target, score } of pairs.toSorted((a, b) => b.score - a.score)) {
    if (matches.has(position) || taken.has(target.name)) continue;
    const look = style.columns[position] as ColumnLook;
    // By a name that is only alike nothing is matched that its values speak against.
    const source = sample.header[position] as string;
    if (score < 1 && !suits(target, look, lookupFor(source, target, look) ?? false)) continue;
    matches.set(position, { target, score });
    taken.add(target.name);
  }
  return matches;
}

/** Of a name no more targets than these are looked at with its values. */
const mostCandidates = 20;

function likeliestTargets(targets: readonly SuggestedTarget[]): (name: ComparedName) => Match[] {
  const own = likenessTo(targets.map(({ name }) => readName(name)));
  const others = targets.flatMap((target, i) => otherNames(target).map((name) => ({ i, name: readName(name) })));
  const byOthers = likenessTo(others.map(({ name }) => name));
  return (name) => {
    const scores = own(name);
    for (const [place, likeness] of byOthers(name).entries()) {
      const { i } = others[place] as { i: number };
      scores[i] = Math.max(scores[i] as number, 0.95 * likeness);
    }
    return targets
      .map((target, i) => ({ target, score: scores[i] as number }))
      .filter(({ score }) => score >= threshold)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, mostCandidates);
  };
}

// Without names there is only the order, and that only when there are as many.
function byPlace({ header }: Sample, targets: readonly SuggestedTarget[]): Map<number, Match> {
  if (header.length !== targets.length) return new Map();
  return new Map(targets.map((target, position) => [position, { target, score: threshold }]));
}

const idEnding = /(?:[ _-](?:id|key|code|no|nr|sk)|(?<=[a-z])(?:Id|Key|Code))$/i;

// A foreign key may be called as what it refers to: country_id, country, Country name, Countries. Only what is likely is compared.
function otherNames(target: SuggestedTarget): string[] {
  if (!target.refersTo) return [];
  const stem = target.name.replace(idEnding, '');
  const { name, columns } = target.refersTo;
  const told = columns.filter((column) => column.is_primary_key || isText(column)).slice(0, columnsCompared);
  return [stem, name, ...told.map((column) => `${stem} ${column.name}`)];
}

const columnsCompared = 5;

const isDated = ({ data_type }: MappedColumn) =>
  ['date', 'datetime', 'timestamp', 'timestamptz', 'time'].includes(data_type);

// A column of instants takes days only by a pattern, which makes midnights of them.
function formatFor(target: MappedColumn, { dates }: ColumnLook, style: SampleStyle): string | null {
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
 * Whether the cells are no keys of the referenced table. True: they are what it is shown by; a name: another of its columns, which the
 * source is called like or which can hold them.
 */
function lookupFor(
  source: string,
  { refersTo }: SuggestedTarget,
  { cells, numbers }: ColumnLook,
): ColumnMapping['lookup'] | undefined {
  const keys = refersTo?.columns.filter(({ is_primary_key }) => is_primary_key) ?? [];
  const [key] = keys;
  if (!refersTo || !key || keys.length > 1 || cells.length === 0) return undefined;
  if (holds(key, cells) && !(isNumber(key) && !numbers)) return undefined;
  const others = refersTo.columns.filter((each) => !each.is_primary_key && isText(each) && holds(each, cells));
  const called = likenessOfColumns(refersTo)(readName(source.replace(/^.*[ _-]/, '')));
  const same = others.find((column) => (called.get(column) ?? 0) >= sameName);
  if (same) return same.name;
  const chosen = refersTo.columns.find(({ id }) => id !== undefined && id === refersTo.lookup_display_column_id);
  if (chosen && holds(chosen, cells)) return true;
  return (others.find(({ name }) => /name|title|label/i.test(name)) ?? others[0])?.name ?? true;
}

const sameName = 0.95;

const comparable = new WeakMap<ReferencedTable, (name: ComparedName) => Map<MappedColumn, number>>();

/** How alike a name is to those of the referenced table's columns, which are read once. */
function likenessOfColumns(table: ReferencedTable): (name: ComparedName) => Map<MappedColumn, number> {
  const known = comparable.get(table);
  if (known) return known;
  const likeness = likenessTo(table.columns.map(({ name }) => readName(name)));
  const compare = (name: ComparedName) => {
    const scores = likeness(name);
    return new Map(table.columns.map((column, i) => [column, scores[i] as number]));
  };
  comparable.set(table, compare);
  return compare;
}

const isText = ({ data_type }: MappedColumn) => data_type === 'string' || data_type === 'text';
const holds = ({ data_type, length }: MappedColumn, cells: string[]) =>
  data_type !== 'string' || !length || longestOf(cells) <= length;

const lengths = new WeakMap<string[], number>();

// The cells of a column are compared with many targets.
function longestOf(cells: string[]): number {
  let longest = lengths.get(cells);
  if (longest === undefined) {
    longest = cells.reduce((most, cell) => Math.max(most, [...cell].length), 0);
    lengths.set(cells, longest);
  }
  return longest;
}

const forms = {
  number: /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i,
  day: /^\d{8}$/,
  boolean: /^(?:true|false)$/i,
  uuid: /^[0-9a-f-]{36}$/i,
};
const formed = new WeakMap<string[], Map<keyof typeof forms, boolean>>();

function areAll(cells: string[], form: keyof typeof forms): boolean {
  const known = formed.get(cells) ?? new Map<keyof typeof forms, boolean>();
  formed.set(cells, known);
  const found = known.get(form) ?? cells.every((cell) => forms[form].test(cell));
  known.set(form, found);
  return found;
}

function suits(target: MappedColumn, { cells, dates, numbers }: ColumnLook, lookup: ColumnMapping['lookup']): boolean {
  if (cells.length === 0 || lookup !== false) return true;
  if (isNumber(target)) return numbers !== undefined || areAll(cells, 'number');
  if (isDated(target)) return dates !== undefined || areAll(cells, 'day');
  if (target.data_type === 'boolean') return areAll(cells, 'boolean');
  if (target.data_type === 'uuid') return areAll(cells, 'uuid');
  return true;
}

function questionsOf(style: SampleStyle, entries: ColumnMapping[], targets: readonly SuggestedTarget[]): string[] {
  const mapped = new Map(targets.map((target) => [target.name, target]));
  // The first of columns with one name counts.
  const targetOf = new Map(entries.toReversed().map((entry) => [entry.source_column, entry.target_column]));
  const goes = (source: string, test: (target: MappedColumn) => boolean) => {
    const target = mapped.get(targetOf.get(source) ?? '');
    return target !== undefined && test(target);
  };
  const dates = style.ambiguousDates.filter((source) => goes(source, isDated));
  const looks = new Map(entries.map(({ source_column }, position) => [source_column, style.columns[position]?.dates]));
  const byStyle = dates.filter(
    (source) => looks.get(source)?.styleDoes && goes(source, ({ data_type }) => data_type === 'date'),
  );
  const byFormat = dates.filter((source) => !byStyle.includes(source));
  const numbers = style.ambiguousNumbers.filter((source) => goes(source, isNumber));
  return [
    ...(byStyle.length === 0 ? [] : [`Is ${byStyle.join(', ')} day or month first? Set date_style to DMY or MDY.`]),
    ...byFormat.map(
      (source) =>
        `Is ${source} day or month first? Set its format to ${looks.get(source)?.format('DMY')} or ${looks.get(source)?.format('MDY')}.`,
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
