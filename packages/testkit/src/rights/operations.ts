// Which rule each operation of the API follows. tests/security/rights/rights.test.ts tries every
// cell with real users, and `npm run permissions` writes docs/permissions.md from it.
import type { RuleName } from './rules.ts';

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
  'GET /branches/{id}/divergence': [
    { rule: 'everybody', note: 'Of the tables that they see on both branches; rows as far as they may see those.' },
  ],
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
  'GET /promotions/{id}/decisions': [
    {
      rule: 'seeDeployments',
      note: 'Approvers of the target branch see all decisions; others those on tables whose rows they may view on both branches.',
    },
  ],
  'POST /promotions/{id}/decisions': [
    { rule: 'decide', when: 'on a protected branch', note: 'An approver decides rows that others have proposed.' },
    { rule: 'propose', when: 'on any other branch', note: 'Of tables whose rows they see.' },
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
  'POST /change_requests/{id}/operations/where': [{ rule: 'proposeRows' }],
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
  'GET /imports/{id}/tables/{table_id}/rejected_rows': [{ rule: 'viewRows' }],
  'POST /imports/{id}/tables/{table_id}/correct': [
    {
      rule: 'editRows',
      note: 'Asked once more when the load begins; one with mass deletion takes what allowing that takes.',
    },
  ],
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
