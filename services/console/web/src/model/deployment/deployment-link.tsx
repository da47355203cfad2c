import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';

/** To the page of a deployment, where it is approved. */
export function DeploymentLink({ id }: { id: number }) {
  return (
    <Link to="/deployments/$id" params={{ id: String(id) }}>
      <Trans>Deployment #{id}</Trans>
    </Link>
  );
}
