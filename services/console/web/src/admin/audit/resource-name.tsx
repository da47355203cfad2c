import { useQuery } from '@tanstack/react-query';
import { Person } from '../../parts/person.tsx';
import { groupsQuery } from '../queries.ts';
import type { AuditEvent } from './audit-view.ts';
import { useAuditWords } from './use-audit-words.ts';

/** What the act was done to: by the name that the entry has kept, else by its kind and number. */
export function ResourceName({ event }: { event: AuditEvent }) {
  const { subjects } = useAuditWords();
  const { resource_type: type, resource_id: id } = event;
  if (type === null) return null;
  const kept: Record<string, unknown> = { ...event.before, ...event.after };
  if (type === 'user_group_assignment') return <Membership kept={kept} />;
  const name = [kept.name, kept.title, kept.email].find((text) => typeof text === 'string' && text !== '');
  if (name) return <>· {String(name)}</>;
  if (type === 'user')
    return (
      <>
        · <Person id={id} />
      </>
    );
  return <>{['·', subjects[type] ?? type, id].join(' ')}</>;
}

/** The user and the group that a membership ties. */
function Membership({ kept }: { kept: Record<string, unknown> }) {
  const { data: groups } = useQuery(groupsQuery);
  const group = groups?.find(({ id }) => id === kept.user_group_id);
  return (
    <>
      · <Person id={Number(kept.user_id)} /> → {group?.name ?? `#${kept.user_group_id}`}
    </>
  );
}
