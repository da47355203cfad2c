// A branch: what it is, how its rows change, how it differs from its parent, and what is under way.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { branchesQuery, meQuery } from '../../api/queries.ts';
import { Page } from '../../parts/page.tsx';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { BranchPills } from '../branch-pills.tsx';
import type { BranchDetails } from '../branch-query.ts';
import styles from '../branches.module.css';
import { PolicyFacts } from '../policy/policy-facts.tsx';
import { BranchActs } from './branch-acts.tsx';
import { BranchDeployments, BranchPromotions } from './branch-changes.tsx';
import { Differences } from './differences.tsx';

export function OpenBranch({ branch }: { branch: BranchDetails }) {
  const { data: me } = useQuery(meQuery);
  return (
    <Page title={branch.name} note={<BranchPills branch={branch} />} actions={<BranchActs branch={branch} />}>
      {branch.description && <p style={{ marginBottom: 16 }}>{branch.description}</p>}
      <Facts branch={branch} />
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

function Facts({ branch }: { branch: BranchDetails }) {
  const { data: branches = [] } = useQuery(branchesQuery);
  const children = branches.filter(({ parent_branch_id }) => parent_branch_id === branch.id);
  return (
    <dl className={styles.facts}>
      {branch.parent && (
        <>
          <dt>
            <Trans>Made from</Trans>
          </dt>
          <dd>
            <Link to="/branches/$id" params={{ id: String(branch.parent.id) }}>
              {branch.parent.name}
            </Link>
          </dd>
        </>
      )}
      {children.length > 0 && (
        <>
          <dt>
            <Trans>Branches from it</Trans>
          </dt>
          <dd className={styles.tools}>
            {children.map(({ id, name }) => (
              <Link key={id} to="/branches/$id" params={{ id: String(id) }}>
                {name}
              </Link>
            ))}
          </dd>
        </>
      )}
      {branch.owner_id !== null && (
        <>
          <dt>
            <Trans>Owner</Trans>
          </dt>
          <dd>
            <Person id={branch.owner_id} />
          </dd>
        </>
      )}
      <dt>
        <Trans>Protection</Trans>
      </dt>
      <dd>
        {branch.is_protected ? (
          <Trans>What is deployed or promoted here is approved by someone else.</Trans>
        ) : (
          <Trans>Those who develop its tables deploy and promote on their own.</Trans>
        )}
      </dd>
      <dt>
        <Trans>Changed</Trans>
      </dt>
      <dd>
        <Time instant={branch.updated_at} />
      </dd>
    </dl>
  );
}
