// `npm run check -- words`: refuses the words of docs/refused-words.json and wide comments in what
// git tracks; with paths, in those files and folders alone.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beginsWith, findProblems, isWithin, type WordList } from './refused-words.ts';

const root = resolve(import.meta.dirname, '../..');
const list = JSON.parse(readFileSync(join(root, 'docs/refused-words.json'), 'utf8')) as WordList;
const places = process.argv.slice(2);

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
const isOurs = (path: string) =>
  !list.notOurs.some((start) => beginsWith(path, start)) && !path.endsWith('/CHANGELOG.md');
const isText = (path: string) =>
  /\.(?:[cm]?[jt]sx?|md|json|ya?ml|sh|sql|proto|prisma|html|py|toml|txt)$|(?:^|\/)(?:Dockerfile|run)$/.test(path);

let problems = 0;
for (const path of tracked.filter((each) => isOurs(each) && isText(each))) {
  if (places.length > 0 && !places.some((place) => isWithin(path, place))) continue;
  for (const { line, problem } of findProblems(path, readFileSync(join(root, path), 'utf8'), list)) {
    console.error(`${path}:${line}: ${problem}`);
    problems += 1;
  }
}
if (problems > 0) console.error(`${problems} problem(s); the words are in docs/refused-words.json.`);
process.exitCode = problems > 0 ? 1 : 0;
