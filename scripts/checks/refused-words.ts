// Finds words that Almanac doesn't use (docs/refused-words.json) and comments that are too wide.
// A text is one stream of words: names are split at their capitals and underscores. So a phrase is
// found in prose, across the lines of a comment, and in a name written as one word. Pure.

type Rule = { refuse: string[]; say: string };

/** `docs/refused-words.json`. Paths are of files or, with all below, of folders. */
export type WordList = {
  words: Rule[];
  /** Refused in names of code, fine in prose. */
  identifiers: Rule[];
  /** Exact texts that may stand in one file, each with the reason. */
  exceptions: { file: string; text: string; why: string }[];
  /**
   * Beginnings of paths, with `*` for one name: generated files, other people's texts, and history.
   * Migrations are history: databases have their checksums.
   */
  notOurs: string[];
};

export type Finding = { line: number; problem: string };

type Word = { word: string; start: number; end: number };

const commentColumns = 100;

/** The problems of one file, in the order of its lines. */
export function findProblems(path: string, text: string, list: WordList): Finding[] {
  const allowed = list.exceptions.filter(({ file }) => file === path).map(({ text: exact }) => exact);
  const own = allowed.reduce((rest, exact) => rest.replaceAll(exact, ' '.repeat(exact.length)), text);
  const found = [...findWords(own, list), ...findWideComments(path, own)];
  return found.toSorted((one, other) => one.line - other.line);
}

function findWords(text: string, { words, identifiers }: WordList): Finding[] {
  const stream = [...text.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)].map(
    ({ 0: word, index }): Word => ({ word: word.toLowerCase(), start: index, end: index + word.length }),
  );
  const phrases = byFirstWord([...words, ...identifiers]);
  const inNamesOnly = new Set(identifiers.flatMap(({ refuse }) => refuse));
  const findings: Finding[] = [];
  for (const [place, { word, start }] of stream.entries())
    for (const { phrase, say } of phrases.get(word) ?? []) {
      const parts = stream.slice(place, place + phrase.length);
      const end = parts.at(-1)?.end as number;
      const isFound =
        phrase.every((each, i) => parts[i]?.word === each) &&
        isJoined(text, parts) &&
        (phrase.join('').length > 3 || isWhole(text, start, end)) &&
        (!inNamesOnly.has(phrase.join(' ')) || isName(text, start, end));
      if (isFound) findings.push({ line: lineOf(text, start), problem: `"${phrase.join(' ')}": say ${say}` });
    }
  return findings;
}

function byFirstWord(rules: Rule[]): Map<string, { phrase: string[]; say: string }[]> {
  const phrases = rules.flatMap(({ refuse, say }) => refuse.map((text) => ({ phrase: text.split(' '), say })));
  return Map.groupBy(phrases, ({ phrase }) => phrase[0] as string);
}

// Between the words of a phrase there may be an end of a line with the marks of a comment.
const isJoined = (text: string, parts: Word[]) =>
  parts.every((part, i) => i === 0 || /^[\s/*#_>-]*$/.test(text.slice(parts[i - 1]?.end, part.start)));

// Short words are parts of too many names and codes.
const isWhole = (text: string, start: number, end: number) =>
  !/\w/.test(text[start - 1] ?? ' ') && !/\w/.test(text[end] ?? ' ');

const isName = (text: string, start: number, end: number) =>
  !isWhole(text, start, end) || /^(?:\(|\.ts\b| =)/.test(text.slice(end, end + 4));

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length;

const comments: [file: RegExp, comment: RegExp][] = [
  [/\.(?:[cm]?[jt]sx?|proto|prisma)$/, /^\s*(?:\/\/|\/\*|\*)/],
  [/\.(?:sh|ya?ml|toml)$|(?:^|\/)Dockerfile$|^\.ci\/run$/, /^\s*#/],
  [/\.sql$/, /^\s*--/],
];

function findWideComments(path: string, text: string): Finding[] {
  const comment = comments.find(([file]) => file.test(path))?.[1];
  if (!comment) return [];
  return text.split('\n').flatMap((line, i) => {
    const isWide = line.length > commentColumns && comment.test(line) && !/:\/\/|biome-ignore/.test(line);
    return isWide ? [{ line: i + 1, problem: `a comment of ${line.length} columns: at most ${commentColumns}` }] : [];
  });
}

/** Whether a path begins with this text, in which `*` stands for one name. */
export const beginsWith = (path: string, start: string): boolean =>
  new RegExp(`^${start.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')}`).test(path);

/** Whether a path is this file, or is in this folder. */
export const isWithin = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
