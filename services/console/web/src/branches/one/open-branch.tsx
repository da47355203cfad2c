// A branch: what it is, how its rows change, how it differs from its parent, and what is under way.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { branchesQuery, meQuery } from '../../api/queries.ts';
import { BranchLink } from '../../changes/branch-link.tsx';
import { Fact, Facts } from '../../parts/blocks/facts.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { BranchPills } from '../branch-pills.tsx';
import type { BranchDetails } from '../branch-query.ts';
import { PolicyFacts } from '../policy/policy-facts.tsx';
import { BranchActs } from './branch-acts.tsx';
import { BranchDeployments, BranchPromotions } from './branch-changes.tsx';
import { Differences } from './differences.tsx';

export function OpenBranch({ branch }: { branch: BranchDetails }) {
  const { data: me } = useQuery(meQuery);
  return (
    <Page title={branch.name} note={<BranchPills branch={branch} />} actions={<BranchActs branch={branch} />}>
      {branch.description && <p style={{ marginBottom: 16 }}>{branch.description}</p>}
      <BranchFacts branch={branch} />
      {branch.parent && <Differences branch={branch} parent={branch.parent} />}
      <PolicyFacts branch={branch} />
      {me?.abilities.branching && (
        <>
          <BranchPromotions branch={branch} />
          <BranchDeployments branch={branch} />
        </>
      )}
    </Page>
  );
}

function BranchFacts({ branch }: { branch: BranchDetails }) {
  const { data: branches = [] } = useQuery(branchesQuery);
  const children = branches.filter(({ parent_branch_id }) => parent_branch_id === branch.id);
  return (
    <Facts>
      {branch.parent && (
        <Fact name={<Trans>Made from</Trans>}>
          <BranchLink branch={branch.parent} />
        </Fact>
      )}
      {children.length > 0 && (
        <Fact name={<Trans>Branches from it</Trans>}>
          <div className={pageStyles.tools}>
            {children.map((child) => (
              <BranchLink key={child.id} branch={child} />
            ))}
          </div>
        </Fact>
      )}
      {branch.owner_id !== null && (
        <Fact name={<Trans>Owner</Trans>}>
          <Person id={branch.owner_id} />
        </Fact>
      )}
      <Fact name={<Trans>Protection</Trans>}>
        {branch.is_protected ? (
          <Trans>What is deployed or promoted here is approved by someone else.</Trans>
        ) : (
          <Trans>Those who develop its tables deploy and promote on their own.</Trans>
        )}
      </Fact>
      <Fact name={<Trans>Changed</Trans>}>
        <Time instant={branch.updated_at} />
      </Fact>
    </Facts>
  );
}
