import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { peopleQuery } from '../api/queries.ts';

/** The name of a person, or that an application has acted. */
export function Person({ id }: { id: number | null | undefined }) {
  const { data: people } = useQuery(peopleQuery);
  if (id === null || id === undefined) return <Trans>an application</Trans>;
  const name = people?.find((person) => person.id === id)?.name;
  return name ? <span>{name}</span> : <Trans>User {id}</Trans>;
}
