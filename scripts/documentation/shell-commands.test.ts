import { commandsOf } from './shell-commands.ts';

const page = (text: string) => `Words.\n\n\`\`\`sh\n${text}\n\`\`\`\n\n\`\`\`json\n{"not": "a command"}\n\`\`\`\n`;

describe('commands in a page', () => {
  it.each<[string, string[]]>([
    ['npm ci && npm start', ['npm ci', 'npm start']],
    ['A=1 B=2 npm start   # a comment; not a command', ['npm start']],
    ['export A=1\nnpm test -- \\\n  --part unit', ['npm test -- --part unit']],
    [`curl -d '{\n "a": "b; c | d"}' $URL | jq .id`, [`curl -d '{\n "a": "b; c | d"}' $URL`, 'jq .id']],
    ['ID=$(curl "$URL" | jq .id)', ['curl "$URL"', 'jq .id']],
    ['api() { curl "$@"; }', ['curl "$@"']],
    ['node keys.js > file.env', ['node keys.js']],
  ])('%j are %j', (text, wanted) => {
    expect(commandsOf(page(text)).map((words) => words.join(' '))).toEqual(wanted);
  });
});
