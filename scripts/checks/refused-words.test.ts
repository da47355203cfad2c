import { beginsWith, findProblems, isWithin, type WordList } from './refused-words.ts';

const list: WordList = {
  words: [
    { refuse: ['whoever'], say: 'the caller' },
    { refuse: ['look after', 'looks after'], say: 'maintain' },
    { refuse: ['he', 'his'], say: 'they' },
  ],
  identifiers: [{ refuse: ['together'], say: 'batch' }],
  exceptions: [{ file: 'docs/a.md', text: 'Whoever may read', why: "another project's title" }],
  notOurs: [],
};

const problems = (text: string, path = 'src/a.ts') =>
  findProblems(path, text, list).map(({ line, problem }) => `${line} ${problem}`);

describe('refused words', () => {
  it('finds a word in comments, strings, names and docs, with its line and what to say', () => {
    expect(problems('const a = 1;\n// Whoever asks.')).toEqual(['2 "whoever": say the caller']);
    for (const text of ["throw new Error('whoever')", 'let askedByWhoever', 'const WHOEVER_ASKS', '**whoever**'])
      expect(problems(text)).toHaveLength(1);
  });

  it('finds a phrase in prose, in a name and across the lines of a comment', () => {
    for (const text of ['it looks after it', 'await lookAfter(it)', '// It looks\n  // after it', 'look_after'])
      expect(problems(text)).toHaveLength(1);
    expect(problems('it looks. After it')).toEqual([]);
  });

  it('leaves longer words and the parts of codes alone', () => {
    expect(problems('this history, the rehearsal of theirs, aHe1, "x_he"')).toEqual([]);
    expect(problems('He keeps his')).toHaveLength(2);
  });

  it('refuses some words in names only', () => {
    for (const text of ['together(rows)', 'togetherMs', 'const together = 1', "from './together.ts'"])
      expect(problems(text)).toHaveLength(1);
    expect(problems('// Both end together.')).toEqual([]);
  });

  it('allows an exact text in the file of its exception', () => {
    expect(problems('"Whoever may read", whoever', 'docs/a.md')).toHaveLength(1);
    expect(problems('"Whoever may read"', 'docs/b.md')).toHaveLength(1);
  });
});

describe('comments', () => {
  it('are at most 100 columns wide in code; addresses and directives may be wider', () => {
    const wide = 'x'.repeat(98);
    expect(problems(`// ${wide}`)).toEqual(['1 a comment of 101 columns: at most 100']);
    expect(problems(`  /** ${wide} */\n   * ${wide}`)).toHaveLength(2);
    expect(problems(`# ${wide}x`, 'a.sh')).toHaveLength(1);
    expect(problems(`# ${wide}x`, 'README.md')).toEqual([]);
    expect(problems(`const text = '${wide}'; // code`)).toEqual([]);
    expect(problems(`// https://example.com/${wide}`)).toEqual([]);
    expect(problems(`// biome-ignore lint: ${wide}`)).toEqual([]);
  });
});

describe('beginsWith', () => {
  it('has * for one name', () => {
    expect(beginsWith('services/data/prisma/migrations/1/migration.sql', 'services/*/prisma/migrations/')).toBe(true);
    expect(beginsWith('services/prisma/migrations/1/migration.sql', 'services/*/prisma/migrations/')).toBe(false);
    expect(beginsWith('docs/third-party-licences.md', 'docs/third-party-')).toBe(true);
    expect(beginsWith('docs/openapi-json', 'docs/openapi.json')).toBe(false);
  });
});

describe('isWithin', () => {
  it('knows a folder from one that begins like it', () => {
    expect(isWithin('docs/adr/a.md', 'docs')).toBe(true);
    expect(isWithin('docs2/a.md', 'docs')).toBe(false);
    expect(isWithin('README.md', 'README.md')).toBe(true);
  });
});
