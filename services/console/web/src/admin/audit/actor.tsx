import { Trans } from '@lingui/react/macro';
import type { AuditEvent } from './audit-view.ts';

/** Who acted: by their current name, or by what is left of them. */
export function Actor({ event: { actor } }: { event: AuditEvent }) {
  if (actor.name) return actor.name;
  if (actor.type === 'system') return <Trans>the system</Trans>;
  if (actor.id === null) return <Trans>not known</Trans>;
  return actor.type === 'user' ? <Trans>User {actor.id}</Trans> : <Trans>Application {actor.id}</Trans>;
}
