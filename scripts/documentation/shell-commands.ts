// Reads the commands in the shell blocks of a page: comments, quotes, continued lines, pipes,
// assignments, and commands within `$(…)`, as far as pages use them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The shell blocks of a page. */
export const blocksOf = (page: string): string[] =>
  [...page.matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)].map(([, , text]) => text as string);

/** Every simple command of the shell blocks, as words with their quotes; not lone assignments. */
export const commandsOf = (page: string): string[][] =>
  blocksOf(page).flatMap((text) => readCommands(text.replace(/\\\n/g, ' ')));

/**
 * A command exactly as docs/how-to shows it, for a test that runs it. Throws when the page doesn't
 * show it. The test of the pages searches for these calls to know which commands are run, so the
 * arguments must be literals.
 */
export function shown(page: string, command: string): string {
  const text = readFileSync(join(import.meta.dirname, '../../docs/how-to', page), 'utf8');
  if (!commandsOf(text).some((words) => words.join(' ') === command))
    throw new Error(`${page} does not show: ${command}`);
  return command;
}

const keywords = new Set(['export', 'if', 'then', 'else', 'fi', 'until', 'do', 'done', '}', '{']);

function readCommands(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word = '';
  let quote = '';
  const endWord = () => {
    if (word !== '') words.push(word);
    word = '';
  };
  const endCommand = () => {
    endWord();
    const named = withoutBeginning(words);
    if (named.length > 0) commands.push(named);
    words = [];
  };
  for (let place = 0; place < text.length; place += 1) {
    const sign = text[place] as string;
    if (text.startsWith('$(', place) && quote !== "'") {
      const end = closing(text, place + 2);
      commands.push(...readCommands(text.slice(place + 2, end)));
      word += '$()';
      place = end;
    } else if (quote !== '') {
      word += sign;
      if (sign === '\\' && quote === '"') word += text[++place] ?? '';
      else if (sign === quote) quote = '';
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word += sign;
    } else if (sign === '#' && word === '') {
      while (place + 1 < text.length && text[place + 1] !== '\n') place += 1;
    } else if ('\n;|&'.includes(sign)) endCommand();
    else if (/\s/.test(sign)) endWord();
    else word += sign;
  }
  endCommand();
  return commands;
}

// The index of the closing bracket; quotes are skipped.
function closing(text: string, from: number): number {
  let depth = 1;
  let quote = '';
  for (let place = from; place < text.length; place += 1) {
    const sign = text[place] as string;
    if (quote !== '') quote = sign === quote ? '' : quote;
    else if (sign === "'" || sign === '"') quote = sign;
    else if (sign === '(') depth += 1;
    else if (sign === ')' && --depth === 0) return place;
  }
  return text.length;
}

// Drops assignments and keywords before the program. The name of a function is no command.
function withoutBeginning(words: string[]): string[] {
  let from = 0;
  while (
    from < words.length &&
    (/^\w+=/.test(words[from] as string) ||
      keywords.has(words[from] as string) ||
      /^\w+\(\)$/.test(words[from] as string))
  )
    from += 1;
  const rest = words.slice(from);
  const redirected = rest.findIndex((word) => /^[<>]/.test(word));
  return redirected === -1 ? rest : rest.slice(0, redirected);
}
