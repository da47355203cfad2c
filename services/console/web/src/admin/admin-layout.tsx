// The pages of administration, with the way between them.
import { useLingui } from '@lingui/react/macro';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import styles from './admin.module.css';
import { useIsAdministrator } from './use-is-administrator.ts';

export function AdminLayout() {
  const { t } = useLingui();
  const isAdministrator = useIsAdministrator();
  const tabs = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a phone the tabs are wider than the page: the current one is brought into sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another current tab.
  useEffect(() => {
    const current = tabs.current?.querySelector('[aria-current="page"]');
    current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname, isAdministrator]);
  return (
    <>
      <nav ref={tabs} className={styles.tabs} aria-label={t`Administration`}>
        <Link to="/admin/people">{t`People`}</Link>
        <Link to="/admin/groups">{t`Groups`}</Link>
        {isAdministrator && <Link to="/admin/applications">{t`Applications`}</Link>}
        <Link to="/admin/account">{t`Account`}</Link>
        <Link to="/admin/usage">{t`Usage`}</Link>
        {isAdministrator && <Link to="/admin/audit">{t`Audit log`}</Link>}
      </nav>
      <Outlet />
    </>
  );
}
