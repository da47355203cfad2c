import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Notice } from '../parts/blocks/notice.tsx';
import { Page } from '../parts/page.tsx';
import { EmptyState } from '../parts/states.tsx';
import { explanationQuery } from './queries.ts';
import { useIsAdministrator } from './use-is-administrator.ts';

const administration = { action: 'admin', resource_type: 'account' } as const;

/** Who may do what a page is about, for those who may not; nothing for administrators. */
export function WhoAdministers({ what }: { what: ReactNode }) {
  if (useIsAdministrator() !== false) return null;
  return (
    <Notice>
      {what} <Administrators />
    </Notice>
  );
}

/** In place of a page that only administrators read. */
export function ForAdministrators({ page, reason }: { page: string; reason: ReactNode }) {
  return (
    <Page title={page}>
      <EmptyState title={reason}>
        <Administrators />
      </EmptyState>
    </Page>
  );
}

function Administrators() {
  // An account that is overdue answers no question that is asked by POST: then there are no names.
  const { data } = useQuery(explanationQuery(administration));
  const named = data?.administrators.people.filter(({ name }) => name !== '').map(({ name }) => name) ?? [];
  if (!data || named.length === 0) return <Trans>Ask an administrator of the account.</Trans>;
  const rest = data.administrators.total_count - named.length;
  const names = named.join(', ');
  if (rest === 0) return <Trans>Ask an administrator: {names}.</Trans>;
  return (
    <Plural
      value={rest}
      one={`Ask an administrator: ${names} and # other.`}
      other={`Ask an administrator: ${names} and # others.`}
    />
  );
}
