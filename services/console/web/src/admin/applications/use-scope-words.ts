import { useLingui } from '@lingui/react/macro';

/** What a token may be good for, from nothing but reading to everything. */
export const scopes = ['api:read', 'api:write', 'api:delete', 'api:admin', 'api'] as const;
export type Scope = (typeof scopes)[number];

export function useScopeWords(): Record<Scope, { name: string; help: string }> {
  const { t } = useLingui();
  return {
    'api:read': { name: t`Read`, help: t`tables, rows and settings` },
    'api:write': { name: t`Write`, help: t`create and change tables, rows and settings` },
    'api:delete': { name: t`Delete`, help: t`tables, rows and settings` },
    'api:admin': { name: t`Administer`, help: t`domains, people, groups and applications` },
    api: { name: t`Everything`, help: t`all that there is, and what later releases add` },
  };
}
