import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { useIsAdministrator } from '../../admin/use-is-administrator.ts';
import { WhoAdministers } from '../../admin/who-administers.tsx';
import { Button } from '../../parts/button.tsx';
import { Skeleton } from '../../parts/states.tsx';

type DomainRefusalProps = {
  /** Why the person may not act on this very domain. */
  refusal?: string | undefined;
  onClose: () => void;
  children: ReactNode;
};

/** The form for administrators; for others who can do it. */
export function DomainRefusal({ refusal, onClose, children }: DomainRefusalProps) {
  const isAdministrator = useIsAdministrator();
  if (isAdministrator === undefined) return <Skeleton lines={3} />;
  if (isAdministrator && refusal === undefined) return children;
  return (
    <>
      <WhoAdministers what={refusal ?? <Trans>Administrators make domains.</Trans>} />
      <Button onPress={onClose}>
        <Trans>Close</Trans>
      </Button>
    </>
  );
}
