import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { rights as allRights } from '../admin/rights/rights.ts';
import { usePlaces } from '../admin/rights/use-places.ts';
import { useRightWords } from '../admin/rights/use-right-words.ts';
import type { Schemas } from '../api/client.ts';
import { Fact, Facts } from '../parts/blocks/facts.tsx';

/** The groups one is in, and the rights that they give. */
export function OwnAccess({ me: { user_groups, rights } }: { me: Schemas['Me'] }) {
  const words = useRightWords();
  const given = allRights.filter((right) => {
    const { everywhere, domain_ids, branch_ids, table_definition_ids } = rights[right];
    return everywhere || domain_ids.length + branch_ids.length + table_definition_ids.length > 0;
  });
  return (
    <Facts>
      <Fact name={<Trans>Your groups</Trans>}>
        {user_groups.length > 0 ? (
          user_groups.map(({ id, name }) => (
            <p key={id}>
              <Link to="/admin/groups/$id" params={{ id: String(id) }}>
                {name}
              </Link>
            </p>
          ))
        ) : (
          <Trans>none yet: ask an administrator</Trans>
        )}
      </Fact>
      {given.map((right) => (
        <div key={right} style={{ display: 'contents' }}>
          <dt title={words[right].help}>{words[right].name}</dt>
          <dd>
            <Places right={rights[right]} isAdministrator={rights.admin.everywhere} />
          </dd>
        </div>
      ))}
    </Facts>
  );
}

function Places({ right, isAdministrator }: { right: Schemas['Right']; isAdministrator: boolean }) {
  const { nameOf } = usePlaces();
  const { everywhere, domain_ids, branch_ids, table_definition_ids } = right;
  const names = [
    ...domain_ids.map((resource_id) => nameOf({ resource_type: 'domain', resource_id })),
    ...branch_ids.map((resource_id) => nameOf({ resource_type: 'branch', resource_id })),
    ...table_definition_ids.map((resource_id) => nameOf({ resource_type: 'table_definition', resource_id })),
  ];
  return (
    <>
      {everywhere && (isAdministrator ? <Trans>everywhere</Trans> : <Trans>everywhere, but on private branches</Trans>)}
      {everywhere && names.length > 0 && ' · '}
      {names.join(' · ')}
    </>
  );
}
