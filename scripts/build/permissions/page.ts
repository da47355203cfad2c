// docs/permissions.md: the rights table for administrators, operation by operation, in the order of
// the API's tags.
import type { OpenApiDocument } from '@almanac/service-kit/api/openapi';
import { type Case, operations } from '@almanac/testkit/rights/operations';
import { type Cell, type Kind, kinds, type Rule, type RuleName, rowOf, rules } from '@almanac/testkit/rights/rules';

type Operation = { name: string; tag: string; scope: string };

/** The operations of the API by their names in the table. */
export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const { tags, security } = operation as { tags: string[]; security: { authorization_code: string[] }[] };
        return {
          name: `${method.toUpperCase()} ${path.replace('/api/v1', '')}`,
          tag: tags[0] as string,
          scope: security.at(-1)?.authorization_code[0] as string,
        };
      }),
    );
}

const signs = { y: '✓', '-': '·', p: '401', c: 'own' } as const satisfies Record<Cell, string>;

const isEndUser = ({ licence }: Kind) => licence === 'end_user';
const developers = kinds.flatMap((kind, index) => (isEndUser(kind) ? [] : [index]));
const endUsers = kinds.flatMap((kind, index) => (isEndUser(kind) ? [index] : []));

/** The text of docs/permissions.md. */
export function asPage(document: OpenApiDocument): string {
  const all = operationsOf(document);
  const tags = [...new Set(all.map(({ tag }) => tag))];
  const sections = tags.map((tag) => {
    const lines = all.filter((operation) => operation.tag === tag).flatMap(linesOf);
    return `### ${tag}\n\n${table(['operation', 'scope', 'takes', ...titlesOf(developers)], lines)}${notesOf(all, tag)}`;
  });
  return `${introduction}\n${sections.join('\n')}\n${endUserSection()}`;
}

function linesOf({ name, scope }: Operation): string[][] {
  return casesOf(name).map((one) => [
    `\`${name}\`${one.when ? ` ${one.when}` : ''}`,
    `\`${scope}\``,
    `${one.list ? 'shows what one has for: ' : ''}${takes(one)}`,
    ...developers.map((kind) => cellOf(one, kind)),
  ]);
}

const casesOf = (name: string): Case[] => operations[name] ?? [];
const takes = ({ rule }: Case) => (rules[rule] as Rule).takes;
const titlesOf = (of: number[]) => of.map((kind) => (kinds[kind] as Kind).title);

// Every user may read a list; without any right it is empty.
function cellOf({ rule, list }: Case, kind: number): string {
  const cell = rowOf(rule)[kind] as Cell;
  return list && cell === '-' ? 'empty' : signs[cell];
}

function notesOf(all: Operation[], tag: string): string {
  const notes = all
    .filter((operation) => operation.tag === tag)
    .flatMap(({ name }) =>
      casesOf(name).flatMap(({ note, plan }) => [
        ...(note ? [`- \`${name}\`: ${note}`] : []),
        ...(plan ? [`- \`${name}\` is there on plans ${plan} only; on others it is 403.`] : []),
      ]),
    );
  return notes.length > 0 ? `\n${[...new Set(notes)].join('\n')}\n` : '';
}

function endUserSection(): string {
  const differing = (Object.keys(rules) as RuleName[]).filter((name) => rowOf(name).some((cell) => cell !== 'y'));
  const lines = differing.map((name) => [
    rules[name].takes,
    ...endUsers.map((kind) => signs[rowOf(name)[kind] as Cell]),
  ]);
  const titles = titlesOf(endUsers).map((title) => title.replace(', end user', ''));
  return `## With an end user's licence

The licence \`end_user\` caps what the groups give at \`edit\`; to approve stays. Members of groups that are not named here may the same with either licence.

${table(['takes', ...titles], lines)}`;
}

function table(head: string[], lines: string[][]): string {
  const row = (cells: string[]) => `| ${cells.join(' | ')} |\n`;
  return row(head) + row(head.map(() => '---')) + lines.map(row).join('');
}

const introduction = `# Who may do what

<!-- Written by \`npm run permissions\` from packages/testkit/src/rights/operations.ts; tests/security/rights/rights.test.ts tries every line. -->

A call needs two things: a token with the **scope** that the operation asks for, and the **right** of its user. A missing scope is 403
\`Insufficient scope. Required: …\`; a missing right is 403 \`Forbidden\`, and \`errors\` says which right on what. The scope \`api\` holds all others.

## Rights

| right | holds | allows |
| --- | --- | --- |
| \`view\` | | reading rows, exporting, seeing what a table looks like |
| \`edit\` | \`view\` | writing rows, importing, import mappings |
| \`develop\` | \`edit\`, \`view\` | definitions, deployments and promotions |
| \`admin\` | \`develop\`, \`edit\`, \`view\` | on the account: everything |
| \`approve\` | | deciding on deployments and promotions to a branch, and seeing what is deployed there |

A right is held on the account, a domain, a branch or one table, through groups, and rights add up. The system makes these groups; administrators make others with
any rights (\`POST /user_groups\`).

| of | group | right there |
| --- | --- | --- |
| the account | Administrators, Developers | \`admin\`, \`develop\` |
| each domain | *name* Developers, Data Managers, Viewers | \`develop\`, \`edit\`, \`view\` |
| each branch | *name* Developers, Approvers, Editors | \`develop\`, \`approve\`, \`edit\` |

- An **application** with its own token (client credentials) has no user and no groups: it acts for the whole account within its scopes, except where an operation
  takes a person (401).
- A **service user** ([how-to/get-a-token.md](how-to/get-a-token.md#as-a-service-user)) has rights by groups and counts as a person on this page, except that the last administrator has to be one who
  can log in.
- Everybody in the account sees its domains, branches, groups, memberships and permissions, and its plan and usage. Tables, rows, deployments, promotions, imports, exports and mappings
  are visible with the right.
- A **private branch** (\`branch_type\`), its groups and all that is on it are visible to its owner, to users with rights on the branch or on a table of it, and to
  administrators. Rights on the account (but \`admin\`) and on domains don't count there; for all others it is unknown: 404, and in no list.
- A change of rights counts within a second. To administer, to decide on a deployment or promotion, to deploy, to promote, to take a table away, and to get the link to a file uses the
  rights of that moment, without a cache. An import or export whose owner has lost the right before it begins fails with that reason.
- The last administrator can't be deleted, demoted or taken out of the group. Who administers or approves, what protects a branch and
  overage are changed only with the scope \`api:admin\`; what is deployed on a protected branch is taken away by administrators alone ([ADR 23](adr/0023-no-way-around-approval.md)).

## Operations

The branch and the tables of a promotion are those that it changes.

Rights of a user on a table in the domain of their group, on the branch of their group. On other domains and branches only rights on the account count.

✓ may · \`·\` 403 · \`401\` takes a person · \`own\` only what they have made themselves · \`empty\` an empty list
`;
