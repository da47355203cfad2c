// How rows of a branch change, in sentences, and where one changes that.
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import type { BranchDetails } from '../branch-query.ts';
import { maySetPolicy } from './branch-rights.ts';
import { PolicyDialog } from './policy-dialog.tsx';

export function PolicyFacts({ branch }: { branch: BranchDetails }) {
  const [isOpen, setIsOpen] = useState(false);
  const { data: me } = useQuery(meQuery);
  const may = me && maySetPolicy(me.rights, branch);
  const isByRequest = branch.row_changes === 'request';
  return (
    <section className={pageStyles.section} aria-labelledby="policy-title">
      <div className={pageStyles.sectionHead}>
        <h2 id="policy-title">
          <Trans>How rows change</Trans>
        </h2>
        {may && (
          <Button onPress={() => setIsOpen(true)}>
            <Trans>Change…</Trans>
          </Button>
        )}
      </div>
      <ul>
        <li>
          {isByRequest ? (
            <Trans>Rows change by change requests and promotions alone.</Trans>
          ) : (
            <Trans>Rows change directly, by those who may edit them.</Trans>
          )}
        </li>
        <li>
          <Plural
            value={branch.required_approvals}
            one="A change request takes # approval."
            other="A change request takes # approvals."
          />{' '}
          {branch.self_approval ? (
            <Trans>That of its creator counts.</Trans>
          ) : (
            <Trans>That of its creator doesn’t count.</Trans>
          )}
        </li>
        {branch.comment_required && (
          <li>
            <Trans>Sending and approving it take a comment.</Trans>
          </li>
        )}
        {isByRequest && (
          <li>
            {branch.machine_imports ? (
              <Trans>Imports of applications go on.</Trans>
            ) : (
              <Trans>Imports of applications don’t change rows either.</Trans>
            )}
          </li>
        )}
      </ul>
      {!branch.row_policy_in_force && (
        <p className={pageStyles.warn} role="status">
          <Trans>This was changed a moment ago, and is not in force yet.</Trans>
        </p>
      )}
      {may === false && (
        <p className={pageStyles.quiet}>
          <Trans>Approvers of the branch and administrators change this.</Trans>
        </p>
      )}
      {isOpen && <PolicyDialog branch={branch} onClose={() => setIsOpen(false)} />}
    </section>
  );
}
