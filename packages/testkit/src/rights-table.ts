// Who may do what through the API. tests/security/rights/rights.test.ts tries every cell with real
// users, and `npm run permissions` writes docs/permissions.md from it. The table is stated, not
// computed: it says what has to be true of the code.

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

export type Case = {
  rule: RuleName;
  /** Every caller may ask; the list contains what the rule allows them to see. */
  list?: true;
  /** Distinguishes the cases of one operation; completes its name. */
  when?: string;
  /** The plan it is for; the others answer 403. */
  plan?: 'without branching';
  note?: string;
};

const list = (name: RuleName): Case => ({ rule: name, list: true });
const appoints = 'Where the group may administer or approve anywhere, the token needs the scope `api:admin` besides.';

const rowPolicy: Case = {
  rule: 'setRowPolicy',
  when: 'to say how rows change',
  note: 'To say how rows change (`row_changes` and its neighbours) an application needs the scope `api:admin`.',
};

const ofDeployed: Case[] = [
  {
    rule: 'adminBranch',
    when: 'on a protected branch',
    note: 'An application needs the scope `api:admin`. What was never deployed takes `develop` on the table; so does everything on plans without branching.',
  },
  { rule: 'develop', when: 'on any other branch' },
];

/** Every operation of the API with its rule, or with several that differ by the case. */
export const operations: Record<string, Case[]> = {
  'GET /account': [{ rule: 'everybody' }],
  'PATCH /account': [
    { rule: 'administer', note: 'To change `overage_enabled` the token needs the scope `api:admin` besides.' },
  ],
  'GET /me': [{ rule: 'everybody' }],
  'PATCH /me': [{ rule: 'person' }],
  'PUT /me/password': [{ rule: 'person', note: 'A service user has no password: 422.' }],
  'GET /me/sessions': [{ rule: 'person' }],
  'DELETE /me/sessions': [{ rule: 'person' }],
  'DELETE /me/sessions/{id}': [{ rule: 'person' }],
  'GET /me/preferences': [{ rule: 'person' }],
  'PUT /me/preferences': [{ rule: 'person' }],
  'GET /people': [{ rule: 'everybody' }],
  'GET /usage': [{ rule: 'everybody' }],
  'GET /usage/statement': [{ rule: 'everybody' }],
  'GET /audit_events': [{ rule: 'administer' }],
  'GET /audit_events/{id}': [{ rule: 'administer' }],

  'GET /users': [{ rule: 'administer' }],
  'POST /users': [{ rule: 'administer' }],
  'GET /users/{id}': [{ rule: 'administer' }],
  'PATCH /users/{id}': [{ rule: 'administer' }],
  'DELETE /users/{id}': [{ rule: 'administer' }],
  'POST /users/{id}/send_invitation': [{ rule: 'administer' }],
  'GET /users/{id}/refresh_tokens': [{ rule: 'administer' }],
  'POST /users/{id}/refresh_tokens': [{ rule: 'administer' }],
  'DELETE /users/{id}/refresh_tokens/{token_id}': [{ rule: 'administer' }],
  'GET /user_groups': [{ rule: 'everybody' }],
  'POST /user_groups': [{ rule: 'administer' }],
  'GET /user_groups/{id}': [{ rule: 'everybody' }],
  'PATCH /user_groups/{id}': [{ rule: 'administer' }],
  'DELETE /user_groups/{id}': [{ rule: 'administer' }],
  'GET /user_group_assignments': [{ rule: 'everybody' }],
  'POST /user_group_assignments': [{ rule: 'administer', note: appoints }],
  'DELETE /user_group_assignments/{id}': [{ rule: 'administer', note: appoints }],
  'GET /permissions': [{ rule: 'everybody' }],
  'POST /permissions/explain': [{ rule: 'everybody' }, { rule: 'seeTables', when: 'of a table' }],
  'GET /oauth_applications': [{ rule: 'administer' }],
  'POST /oauth_applications': [{ rule: 'administer' }],
  'GET /oauth_applications/{id}': [{ rule: 'administer' }],
  'PATCH /oauth_applications/{id}': [{ rule: 'administer' }],
  'DELETE /oauth_applications/{id}': [{ rule: 'administer' }],
  'POST /oauth_applications/{id}/regenerate_secret': [{ rule: 'administer' }],
  'GET /oauth_applications/{id}/secrets': [{ rule: 'administer' }],
  'POST /oauth_applications/{id}/secrets': [{ rule: 'administer' }],
  'DELETE /oauth_applications/{id}/secrets/{secret_id}': [{ rule: 'administer' }],

  'GET /domains': [{ rule: 'everybody' }],
  'POST /domains': [{ rule: 'administer' }],
  'GET /domains/{id}': [{ rule: 'everybody' }],
  'PATCH /domains/{id}': [{ rule: 'administer' }],
  'DELETE /domains/{id}': [{ rule: 'administer' }],

  'GET /branches': [{ rule: 'everybody' }],
  'POST /branches': [{ rule: 'openBranch', note: 'The creator of a branch owns it and joins its Developers.' }],
  'POST /branches/set_current_branch': [{ rule: 'person' }],
  'GET /branches/{id}': [{ rule: 'everybody' }],
  'PATCH /branches/{id}': [
    { rule: 'describeBranch' },
    {
      rule: 'adminBranch',
      when: 'to protect it or no longer, or to change its type',
      note: 'To protect it or no longer, or to change its type, the token needs the scope `api:admin` besides. Its owner may change its type too.',
    },
    rowPolicy,
  ],
  'DELETE /branches/{id}': [
    {
      rule: 'ownBranch',
      note: 'A protected branch is deleted by administrators alone; an application needs the scope `api:admin`.',
    },
  ],

  'GET /table_definitions': [list('seeTables')],
  'POST /table_definitions': [{ rule: 'develop' }],
  'GET /table_definitions/{id}': [{ rule: 'seeTables' }],
  'PATCH /table_definitions/{id}': [
    { rule: 'develop', note: 'To file it under another domain takes the right there as well.' },
    rowPolicy,
  ],
  'DELETE /table_definitions/{id}': ofDeployed,
  'POST /table_definitions/{id}/clone': [
    { rule: 'copy', note: 'With `include_data` it takes `view` on the original besides.' },
  ],
  'POST /table_definitions/{id}/remove': ofDeployed,
  'POST /table_definitions/{id}/restore': ofDeployed,
  'POST /table_definitions/{id}/deploy': [{ rule: 'develop', plan: 'without branching' }],
  'POST /table_definitions/{id}/infer_columns': [{ rule: 'develop' }],
  'GET /column_definitions': [list('seeTables')],
  'POST /column_definitions': [{ rule: 'develop', note: 'To refer to another table takes `view` on that.' }],
  'GET /column_definitions/{id}': [{ rule: 'seeTables' }],
  'PATCH /column_definitions/{id}': [{ rule: 'develop', note: 'To refer to another table takes `view` on that.' }],
  'DELETE /column_definitions/{id}': [{ rule: 'develop' }],
  'GET /deployed_table_definitions': [list('seeTables')],
  'GET /deployed_table_definitions/{id}': [{ rule: 'seeTables' }],

  'GET /deployments': [list('seeDeployments')],
  'POST /deployments': [{ rule: 'propose' }],
  'GET /deployments/{id}': [{ rule: 'seeDeployments' }],
  'POST /deployments/{id}/rehearse': [{ rule: 'seeDeployments' }],
  'POST /deployments/{id}/send_request': [{ rule: 'propose' }],
  'POST /deployments/{id}/deploy': [
    { rule: 'decide', when: 'on a protected branch', note: 'An approver deploys what others have proposed.' },
    { rule: 'propose', when: 'on any other branch' },
  ],
  'POST /deployments/{id}/reject': [{ rule: 'decide' }],
  'POST /deployments/{id}/cancel': [{ rule: 'takeBack' }],
  'POST /deployments/{id}/abandon': [{ rule: 'abandon' }],

  // The branch and tables of a promotion are those that it changes.
  'GET /promotions': [list('seeDeployments')],
  'POST /promotions': [{ rule: 'merge' }],
  'GET /promotions/{id}': [{ rule: 'seeDeployments' }],
  'GET /promotions/{id}/rows': [
    {
      rule: 'seeDeployments',
      note: 'Approvers of the target branch see all rows; others see those of tables whose rows they may view on both branches, and get 403 when there are none.',
    },
  ],
  'POST /promotions/{id}/rehearse': [
    {
      rule: 'seeDeployments',
      note: 'With `include_data` it takes `view` on the tables of the source branch, or `approve` on the target branch, besides; so does `promote`.',
    },
  ],
  'POST /promotions/{id}/send_request': [{ rule: 'propose', note: 'Its creator may, too.' }],
  'POST /promotions/{id}/promote': [
    { rule: 'decide', when: 'on a protected branch', note: 'An approver promotes what others have proposed.' },
    { rule: 'propose', when: 'on any other branch' },
  ],
  'POST /promotions/{id}/reject': [{ rule: 'decide' }],
  'POST /promotions/{id}/cancel': [{ rule: 'takeBack' }],
  'POST /promotions/{id}/abandon': [{ rule: 'abandon' }],

  'GET /change_requests': [list('seeRequests')],
  'POST /change_requests': [{ rule: 'openImport', note: 'A table counts on its own branch.' }],
  'GET /change_requests/{id}': [
    { rule: 'seeRequests', note: 'With `view` on some of its tables, these are shown alone.' },
  ],
  'PATCH /change_requests/{id}': [{ rule: 'ownRequest' }],
  'POST /change_requests/{id}/send_request': [{ rule: 'ownRequest' }],
  'POST /change_requests/{id}/withdraw': [{ rule: 'ownRequest' }],
  'POST /change_requests/{id}/request_changes': [{ rule: 'decide' }],
  'POST /change_requests/{id}/approve': [
    { rule: 'decide', note: 'Not its creator, unless the policy allows self-approval.' },
  ],
  'POST /change_requests/{id}/reject': [{ rule: 'decide' }],
  'POST /change_requests/{id}/cancel': [{ rule: 'endRequest' }],
  'POST /change_requests/{id}/apply': [
    { rule: 'applyRequest', note: 'Its creator once others have approved it; an approver may approve by it.' },
  ],
  'GET /change_requests/{id}/comments': [
    { rule: 'seeRequests', note: 'Comments on operations take seeing all of its tables; so does POST.' },
  ],
  'POST /change_requests/{id}/comments': [{ rule: 'seeRequests' }],

  'GET /search': [
    {
      ...list('seeTables'),
      note: 'Branches and changes are found by those who see them in their lists, domains by everybody.',
    },
  ],
  'GET /inbox': [{ rule: 'person' }],
  'GET /inbox/counts': [{ rule: 'person' }],

  'GET /views': [{ rule: 'viewRows' }],
  'POST /views': [
    { rule: 'keepViews', note: 'To make it the default of everybody takes `develop` on the table; so does PATCH.' },
  ],
  'GET /views/{id}': [{ rule: 'viewRows', note: 'A private view of another user is 404.' }],
  'PATCH /views/{id}': [
    { rule: 'keepViews', when: 'to make it one’s own default' },
    { rule: 'changeViews', note: 'A locked view is changed by its owner alone, who alone changes who sees a view.' },
  ],
  'DELETE /views/{id}': [{ rule: 'changeViews' }],

  'GET /table_data': [{ rule: 'viewRows' }],
  'POST /table_data/grid': [
    {
      rule: 'viewRows',
      note: 'With `change_request_id`, who has `approve` on its branch reads the rows that it changes; so do `GET /table_data` and `GET /table_data/{id}`.',
    },
  ],
  'POST /table_data/values': [{ rule: 'viewRows' }],
  'POST /table_data/position': [{ rule: 'viewRows' }],
  'POST /table_data/groups': [{ rule: 'viewRows' }],
  'GET /table_data/by_key': [{ rule: 'viewRows' }],
  'PUT /table_data/by_key': [{ rule: 'editRows' }],
  'DELETE /table_data/by_key': [{ rule: 'editRows' }],
  'GET /table_data/{id}': [{ rule: 'viewRows' }],
  'GET /table_data/{id}/history': [{ rule: 'viewRows' }],
  'POST /table_data/diff': [{ rule: 'viewRows', note: 'On the named table and on the table of each side.' }],
  'GET /table_data/activity': [{ rule: 'viewRows' }],
  'GET /table_data/changes': [{ rule: 'viewRows' }],
  'GET /table_data/timeline': [{ rule: 'viewRows' }],
  'POST /table_data': [{ rule: 'editRows' }],
  'PATCH /table_data/{id}': [{ rule: 'editRows' }],
  'POST /table_data/delete_records': [{ rule: 'editRows' }],
  'POST /table_data/restore_records': [{ rule: 'editRows' }],
  'POST /table_data/batch': [{ rule: 'editRows' }],
  'POST /table_data/update_where': [{ rule: 'editRows' }],
  'POST /table_data/delete_where': [{ rule: 'editRows' }],
  'POST /table_data/undo': [{ rule: 'editRows' }],
  'GET /table_data/search': [list('viewRows')],
  'GET /table_data/usage': [{ rule: 'viewRows' }],
  'POST /table_data/resolve': [{ rule: 'viewRows' }],
  'GET /table_data/{id}/references': [{ rule: 'viewRows' }],
  'POST /table_data/{id}/revert': [{ rule: 'editRows' }],

  'GET /change_requests/{id}/operations': [{ rule: 'seeTables', note: 'Its creator sees all operations.' }],
  'POST /change_requests/{id}/operations': [{ rule: 'proposeRows' }],
  'POST /change_requests/{id}/operations/remove': [{ rule: 'proposeRows' }],
  'POST /change_requests/{id}/resolutions': [{ rule: 'proposeRows' }],
  'POST /change_requests/{id}/decisions': [{ rule: 'decide' }],
  'POST /change_requests/{id}/rehearse': [{ rule: 'seeTables', note: 'Its creator, for all operations.' }],

  'GET /imports': [list('viewRows')],
  'POST /imports': [{ rule: 'openImport' }],
  'GET /imports/{id}': [{ rule: 'viewRows' }],
  'POST /imports/{id}/tables': [
    { rule: 'editRows' },
    {
      rule: 'adminBranch',
      when: 'to allow mass deletion on a protected branch',
      note: 'To allow mass deletion on a protected branch, by `allow_mass_delete` or by a `mass_delete_percent` above 50, an application needs the scope `api:admin`.',
    },
  ],
  'PUT /imports/{id}/tables/{table_id}/file': [{ rule: 'editRows' }],
  'GET /imports/{id}/tables/{table_id}/changes': [{ rule: 'viewRows' }],
  'POST /imports/{id}/tables/{table_id}/apply': [
    {
      rule: 'editRows',
      note: 'To load the file, asked once more when the load begins; one with mass deletion takes what allowing that takes.',
    },
  ],
  'POST /imports/{id}/upload_complete': [{ rule: 'editRows', note: 'Asked once more when the load begins.' }],
  'POST /imports/{id}/complete': [{ rule: 'editRows' }],
  'POST /imports/{id}/cancel': [{ rule: 'editRows' }],
  'GET /exports': [list('viewRows')],
  'POST /exports': [
    {
      rule: 'viewRows',
      note: 'Asked once more when the export begins. With `change_request_id` for those who see the request besides.',
    },
  ],
  'GET /exports/{id}': [{ rule: 'viewRows' }],
  'POST /exports/{id}/cancel': [{ rule: 'viewRows' }],
  'GET /events': [
    {
      rule: 'everybody',
      note: 'Administrators and applications read all events, those about people and applications with the scope `api:admin`; everybody else `rows.changed` of tables they may view.',
    },
  ],
  'GET /events/stream': [{ rule: 'everybody', note: 'As `GET /events`.' }],
  'GET /import_mappings': [list('viewRows')],
  'POST /import_mappings': [
    { rule: 'editRows', note: 'To look records up takes `view` on the table they are in; so does PATCH.' },
  ],
  'POST /import_mappings/suggest': [{ rule: 'editRows' }],
  'GET /import_mappings/{id}': [{ rule: 'viewRows' }],
  'PATCH /import_mappings/{id}': [{ rule: 'editRows' }],
  'DELETE /import_mappings/{id}': [{ rule: 'editRows' }],
  'GET /webhook_endpoints': [{ rule: 'administer' }],
  'POST /webhook_endpoints': [{ rule: 'administer' }],
  'GET /webhook_endpoints/{id}': [{ rule: 'administer' }],
  'PATCH /webhook_endpoints/{id}': [{ rule: 'administer' }],
  'DELETE /webhook_endpoints/{id}': [{ rule: 'administer' }],
  'POST /webhook_endpoints/{id}/rotate_secret': [{ rule: 'administer' }],
  'POST /webhook_endpoints/{id}/test': [{ rule: 'administer' }],
  'POST /webhook_endpoints/{id}/replay': [{ rule: 'administer' }],
  'GET /webhook_endpoints/{id}/deliveries': [{ rule: 'administer' }],
  'POST /webhook_endpoints/{id}/deliveries/{delivery_id}/resend': [{ rule: 'administer' }],
};

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
