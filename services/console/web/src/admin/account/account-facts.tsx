import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { meQuery } from '../../api/queries.ts';
import { Fact, Facts } from '../../parts/blocks/facts.tsx';
import { usersQuery } from '../queries.ts';
import { useDateStyles } from './use-date-styles.ts';

const tebibyte = 2 ** 40;
const gibibyte = 2 ** 30;

export function AccountFacts({ account, isAdministrator }: { account: Schemas['Account']; isAdministrator: boolean }) {
  const { i18n } = useLingui();
  const { data: me } = useQuery(meQuery);
  const bytes = me?.abilities.storage_bytes;
  const dateStyles = useDateStyles();
  const storage = (bytes: number) =>
    bytes >= tebibyte
      ? `${i18n.number(bytes / tebibyte, { maximumFractionDigits: 1 })} TB`
      : `${i18n.number(bytes / gibibyte, { maximumFractionDigits: 1 })} GB`;
  return (
    <Facts>
      <Fact name={<Trans>Plan</Trans>}>{account.plan}</Fact>
      <Fact name={<Trans>Calls beyond the allowance</Trans>}>
        {account.overage_enabled ? (
          <Trans>go on, and are charged</Trans>
        ) : (
          <Trans>are refused until the next month</Trans>
        )}
      </Fact>
      <Fact name={<Trans>Branches</Trans>}>
        {account.branching_enabled ? <Trans>are in the plan</Trans> : <Trans>are not in the plan</Trans>}
      </Fact>
      <Fact name={<Trans>Files that are kept</Trans>}>
        {bytes ? <Trans>at most {storage(bytes)}</Trans> : <Trans>without limit</Trans>}
      </Fact>
      {isAdministrator && (
        <Fact name={<Trans>Licences</Trans>}>
          <Licences />
        </Fact>
      )}
      <Fact name={<Trans>Dates in files</Trans>}>{dateStyles[account.date_style]}</Fact>
      <Fact name={<Trans>Account number</Trans>}>{account.id}</Fact>
    </Facts>
  );
}

/** How many people have which licence, without those who are deactivated. */
function Licences() {
  const { data: users, error } = useQuery(usersQuery);
  if (error) return <Trans>not known: the people did not load</Trans>;
  if (!users) return '…';
  const count = (license: Schemas['User']['license_type']) =>
    users.filter((user) => user.license_type === license && user.status !== 'suspended').length;
  return (
    <>
      <Plural value={count('developer')} one="# developer" other="# developers" />,{' '}
      <Plural value={count('end_user')} one="# end user" other="# end users" />
    </>
  );
}
