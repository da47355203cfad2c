// Who calls, and the rules of the API with what each allows them. The rules of operations are in
// operations.ts. The table is stated, not computed: it says what has to be true of the code.

export type Place = 'account' | 'domain' | 'branch' | 'table_definition';

export type Kind = {
  /** The name of its column. */
  title: string;
  /** Where the right is held; undefined: no right at all. */
  place?: Place;
  action?: 'admin' | 'develop' | 'edit' | 'view' | 'approve';
  licence: 'developer' | 'end_user';
  /** An application with its own token instead of a person. */
  machine?: true;
};

const person = (place: Place, action: Kind['action'], title: string): Kind => ({
  title,
  place,
  action,
  licence: 'developer',
});
const endUser = (place: Place, action: Kind['action'], title: string): Kind => ({
  title,
  place,
  action,
  licence: 'end_user',
});

/** Every kind of caller, one group at a time, in the order of the columns. */
export const kinds = [
  person('account', 'admin', 'Administrators'),
  person('account', 'develop', 'Developers'),
  person('domain', 'develop', 'domain Developers'),
  person('domain', 'edit', 'domain Data Managers'),
  person('domain', 'view', 'domain Viewers'),
  person('branch', 'develop', 'branch Developers'),
  person('branch', 'approve', 'branch Approvers'),
  person('branch', 'edit', 'branch Editors'),
  person('table_definition', 'view', 'view on one table'),
  { title: 'no group', licence: 'developer' },
  { title: 'application', licence: 'developer', machine: true },
  // The licence matters only for rights beyond `edit`.
  endUser('account', 'admin', 'Administrators, end user'),
  endUser('account', 'develop', 'Developers, end user'),
  endUser('domain', 'develop', 'domain Developers, end user'),
  endUser('branch', 'develop', 'branch Developers, end user'),
  endUser('branch', 'approve', 'branch Approvers, end user'),
] as const satisfies Kind[];

/**
 * `y`: may. `-`: 403, the right is missing. `p`: 401, it takes a person. `c`: only what the caller
 * has created, else 403.
 */
export type Cell = 'y' | '-' | 'p' | 'c';

// On a table in the group's domain, on the group's branch, which is protected. The columns are the
// kinds in their order.
const matrix = `
                account  domain   branch   table  none  application  end users: account, domain, branch
                Ad De    De Ma Vi De Ap Ed   V
everybody       y  y   | y  y  y | y  y  y | y  |  y  |      y      | y y   y   y y
person          y  y   | y  y  y | y  y  y | y  |  y  |      p      | y y   y   y y
administer      y  -   | -  -  - | -  -  - | -  |  -  |      y      | - -   -   - -
viewRows        y  y   | y  y  y | y  -  y | y  |  -  |      y      | y y   y   y -
keepViews       y  y   | y  y  y | y  -  y | y  |  -  |      p      | y y   y   y -
changeViews     y  y   | y  -  - | y  -  - | -  |  -  |      p      | - -   -   - -
editRows        y  y   | y  y  - | y  -  y | -  |  -  |      y      | y y   y   y -
proposeRows     c  c   | c  c  - | c  -  c | -  |  -  |      c      | c c   c   c -
seeTables       y  y   | y  y  y | y  y  y | y  |  -  |      y      | y y   y   y y
develop         y  y   | y  -  - | y  -  - | -  |  -  |      y      | - -   -   - -
copy            y  y   | y  -  - | y  -  - | -  |  -  |      p      | - -   -   - -
openBranch      y  y   | y  -  - | y  -  - | -  |  -  |      p      | - -   -   - -
describeBranch  y  y   | -  -  - | y  -  - | -  |  -  |      y      | - -   -   - -
ownBranch       y  -   | -  -  - | -  -  - | -  |  -  |      y      | - -   -   - -
adminBranch     y  -   | -  -  - | -  -  - | -  |  -  |      y      | - -   -   - -
setRowPolicy    y  -   | -  -  - | -  y  - | -  |  -  |      y      | - -   -   - y
openImport      y  y   | y  y  - | y  -  y | -  |  -  |      y      | y y   y   y -
seeDeployments  y  y   | y  y  y | y  y  y | y  |  -  |      p      | y y   y   y y
propose         y  y   | y  -  - | y  -  - | -  |  -  |      p      | - -   -   - -
merge           y  y   | y  -  - | -  -  - | -  |  -  |      p      | - -   -   - -
decide          y  -   | -  -  - | -  y  - | -  |  -  |      p      | - -   -   - y
takeBack        c  c   | c  -  - | c  -  - | -  |  -  |      p      | - -   -   - -
abandon         y  c   | c  -  - | c  y  - | -  |  -  |      p      | - -   -   - y
seeRequests     y  y   | y  y  y | y  y  y | y  |  -  |      y      | y y   y   y y
ownRequest      c  c   | c  c  - | c  -  c | -  |  -  |      c      | c c   c   c -
endRequest      y  c   | c  c  - | c  -  c | -  |  -  |      c      | c c   c   c -
applyRequest    y  c   | c  c  - | c  y  c | -  |  -  |      p      | c c   c   c y
`;

export type Rule = {
  /** Completes "takes …". */
  takes: string;
  /** Where a right on one domain, branch or table also counts; undefined: nowhere else. */
  reaches?: 'everything' | 'any branch from a domain';
};

const onTable = 'on the table, its domain, its branch or the account';
const approving = '`approve` on its branch or the account, or `admin` on the account';

/** The rules that operations follow. */
export const rules = {
  everybody: { takes: 'a token of the account', reaches: 'everything' },
  person: { takes: 'a token of a person', reaches: 'everything' },
  administer: { takes: '`admin` on the account', reaches: 'everything' },
  viewRows: { takes: `\`view\` ${onTable}` },
  keepViews: { takes: `a token of a person, and \`view\` ${onTable}` },
  changeViews: { takes: `being its owner, or \`develop\` ${onTable} for one that is not locked` },
  editRows: { takes: `\`edit\` ${onTable}` },
  proposeRows: { takes: `being the creator of the change request, and to add to it \`edit\` ${onTable}` },
  seeTables: { takes: `\`view\` ${onTable}, or \`approve\` on its branch` },
  develop: { takes: `\`develop\` ${onTable}` },
  copy: { takes: '`develop` on its domain, the target branch or the account, and seeing the original' },
  openBranch: { takes: '`develop` on the account, any domain or any branch', reaches: 'everything' },
  describeBranch: { takes: '`develop` on the branch or the account' },
  ownBranch: { takes: '`admin` on the branch or the account, or being its owner with `develop` on it' },
  adminBranch: { takes: '`admin` on the branch or the account' },
  setRowPolicy: { takes: '`approve` or `admin` on its branch or the account' },
  openImport: {
    takes: '`edit` on the branch, the account, or any domain or table',
    reaches: 'any branch from a domain',
  },
  seeDeployments: { takes: '`view` on each of its tables, or `view` or `approve` on its branch' },
  propose: { takes: '`develop` on each of its tables' },
  merge: { takes: '`develop` on each of its tables on one of the two branches, and seeing them on both' },
  decide: { takes: approving },
  takeBack: { takes: 'being its creator' },
  abandon: { takes: `being its creator, or ${approving}` },
  seeRequests: { takes: 'being its creator, `view` on one of its tables, or `view` or `approve` on its branch' },
  ownRequest: { takes: 'being its creator' },
  endRequest: { takes: 'being its creator, or `admin` on the account' },
  applyRequest: { takes: `being its creator, or ${approving}` },
} as const satisfies Record<string, Rule>;
export type RuleName = keyof typeof rules;

const rows = new Map(
  matrix
    .split('\n')
    .slice(3, -1)
    .map((line) => {
      const [name = '', ...cells] = line.split(/[ |]+/);
      return [name, cells as Cell[]];
    }),
);

/** A row of the matrix: a cell for each kind. */
export function rowOf(name: RuleName): Cell[] {
  return rows.get(name) as Cell[];
}

/**
 * The cell for a kind of caller: on a table in their domain and on their branch (`here`), or on one
 * of another domain and branch, where rights on the account count and what the rule reaches.
 */
export function expected(name: RuleName, kind: number, here: boolean): Cell {
  const cell = rowOf(name)[kind] as Cell;
  const { place }: Kind = kinds[kind] as Kind;
  if (here || place === undefined || place === 'account') return cell;
  const { reaches }: Rule = rules[name];
  return reaches === 'everything' || (reaches !== undefined && place === 'domain') ? cell : '-';
}
