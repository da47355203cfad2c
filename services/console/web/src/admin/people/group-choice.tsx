import { Trans, useLingui } from '@lingui/react/macro';
import { TickList } from '../../parts/form/tick-list.tsx';
import type { Group } from '../queries.ts';
import { usePlaces } from '../rights/use-places.ts';

type GroupChoiceProps = { groups: Group[]; ticked: ReadonlySet<number>; onChange: (ticked: Set<number>) => void };

/** Groups to tick: those of the account, then those of each domain and branch, then custom ones. */
export function GroupChoice({ groups, ticked, onChange }: GroupChoiceProps) {
  const { t } = useLingui();
  const { nameOf, kinds } = usePlaces();
  const items = kinds.flatMap(({ id: kind }) =>
    groups
      .filter(({ system, resource_type }) => system && resource_type === kind)
      .toSorted((one, other) => (one.resource_id ?? 0) - (other.resource_id ?? 0))
      .map(({ id, name, resource_id }) => ({
        id,
        name,
        section: nameOf({ resource_type: kind, resource_id: resource_id ?? 0 }),
      })),
  );
  const custom = groups
    .filter(({ system }) => !system)
    .map(({ id, name, description }) => ({ id, name, note: description ?? '', section: t`Custom groups` }));
  return (
    <TickList
      label={<Trans>Groups: what they may do</Trans>}
      searchLabel={t`Search groups`}
      items={[...items, ...custom]}
      ticked={ticked}
      onChange={onChange}
    />
  );
}
