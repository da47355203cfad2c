import { Plural, Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { useId } from 'react';
import { LineList } from '../../parts/blocks/line-list.tsx';
import pageStyles from '../../parts/page.module.css';
import type { Group } from '../queries.ts';
import { usePlaces } from '../rights/use-places.ts';
import { useRightWords } from '../rights/use-right-words.ts';

const mostShown = 4;

export function GroupList({ title, groups }: { title: string; groups: Group[] }) {
  const titleId = useId();
  if (groups.length === 0) return null;
  return (
    <section className={pageStyles.section} aria-labelledby={titleId}>
      <h2 id={titleId}>{title}</h2>
      <LineList items={groups}>{(group) => <GroupLine group={group} />}</LineList>
    </section>
  );
}

function GroupLine({ group: { id, name, members, permissions } }: { group: Group }) {
  const words = useRightWords();
  const { nameOf } = usePlaces();
  const given = permissions
    .slice(0, mostShown)
    .map(({ action, ...place }) => `${words[action].name}: ${nameOf(place)}`);
  const rest = permissions.length - given.length;
  return (
    <Link to="/admin/groups/$id" params={{ id: String(id) }} className={pageStyles.line}>
      <Users size={18} aria-hidden />
      <span className={pageStyles.text}>
        <span className={pageStyles.name}>{name}</span>
        <span className={pageStyles.note}>
          {given.length > 0 ? given.join(' · ') : <Trans>gives no rights</Trans>}
          {rest > 0 && <Plural value={rest} one=" · # more" other=" · # more" />}
        </span>
      </span>
      <span className={pageStyles.end}>
        <Plural value={members.length} one="# member" other="# members" />
      </span>
    </Link>
  );
}
