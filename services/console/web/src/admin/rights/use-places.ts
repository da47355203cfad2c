// The places where a right is held: the account, a domain, a branch, a table.
import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { branchesQuery, meQuery } from '../../api/queries.ts';
import { definitionsQuery, domainsQuery } from '../queries.ts';
import { type PlaceKind, placeKinds } from './place.ts';

type PlaceOption = { id: number; name: string };

type Places = {
  kinds: { id: PlaceKind; name: string }[];
  /** Those of a kind, by name. */
  optionsOf: (kind: PlaceKind) => PlaceOption[];
  /** `domain ISO standards`. */
  nameOf: (place: Pick<Schemas['GroupPermission'], 'resource_type' | 'resource_id'>) => string;
};

export function usePlaces(): Places {
  const { t } = useLingui();
  const { data: me } = useQuery(meQuery);
  const { data: domains = [] } = useQuery(domainsQuery);
  const { data: branches = [] } = useQuery(branchesQuery);
  const { data: tables = [] } = useQuery(definitionsQuery);
  const kindNames = {
    account: t`The whole account`,
    domain: t`Domain`,
    branch: t`Branch`,
    table_definition: t`Table`,
  };
  const options: Record<PlaceKind, PlaceOption[]> = {
    account: me ? [{ id: me.account.id, name: me.account.name }] : [],
    domain: domains,
    branch: branches,
    table_definition: tables.map(({ id, name, branch }) => ({ id, name: `${name} (${branch.name})` })),
  };
  return {
    kinds: placeKinds.map((id) => ({ id, name: kindNames[id] })),
    optionsOf: (kind) => options[kind],
    nameOf: ({ resource_type: kind, resource_id: id }) => {
      if (kind === 'account') return kindNames.account;
      const name = options[kind].find((option) => option.id === id)?.name ?? `#${id}`;
      return `${kindNames[kind]} ${name}`;
    },
  };
}
