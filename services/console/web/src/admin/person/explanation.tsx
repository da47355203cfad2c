import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import styles from '../admin.module.css';
import { usersQuery } from '../queries.ts';
import { usePlaces } from '../rights/use-places.ts';
import { useRightWords } from '../rights/use-right-words.ts';

type Answer = Schemas['PermissionExplanation'];

/** The server's answer in words: whether, by which groups, and who else may. */
export function Explanation({ explanation, name }: { explanation: Answer; name: string }) {
  const { t } = useLingui();
  const { nameOf } = usePlaces();
  const reasons = {
    granted: '',
    suspended: t`They are deactivated.`,
    license: t`Their licence does not reach to this right.`,
    private_branch: t`The branch is private: rights from outside don’t count there.`,
    no_permission: t`No group gives them this right there.`,
  };
  const { allowed, reason, through, ignored, holders, administrators } = explanation;
  const place = nameOf(explanation);
  return (
    <Notice kind={allowed ? 'done' : 'bad'}>
      <p>
        <strong>{allowed ? <Trans>Yes, {name} may.</Trans> : <Trans>No, {name} may not.</Trans>}</strong>{' '}
        {reasons[reason]}
      </p>
      <dl className={styles.answer}>
        <Part title={<Trans>Where</Trans>}>{place}</Part>
        {through.length > 0 && (
          <Part title={<Trans>By</Trans>}>
            <Sources sources={through} />
          </Part>
        )}
        {ignored.length > 0 && (
          <Part title={<Trans>Doesn’t count</Trans>}>
            <Sources sources={ignored} />
          </Part>
        )}
        {!allowed && (
          <>
            <Part title={<Trans>Who may</Trans>}>
              <Holders holders={holders} />
            </Part>
            <Part title={<Trans>Who can grant it</Trans>}>
              <Holders holders={administrators} />
            </Part>
          </>
        )}
      </dl>
    </Notice>
  );
}

function Part({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Sources({ sources }: { sources: Answer['through'] }) {
  const { t } = useLingui();
  const words = useRightWords();
  const { nameOf } = usePlaces();
  return (
    <ul>
      {sources.map(({ user_group, action, ...place }) => {
        const group = user_group?.name ?? t`being the owner of the branch`;
        const right = words[action].name;
        const where = nameOf(place);
        return (
          <li key={`${group}:${action}:${where}`}>
            <Trans>
              <strong>{group}</strong>: “{right}” on {where}
            </Trans>
          </li>
        );
      })}
    </ul>
  );
}

function Holders({ holders: { people, total_count } }: { holders: Answer['holders'] }) {
  const { t } = useLingui();
  const { data: users } = useQuery(usersQuery);
  if (people.length === 0) return <Trans>no person</Trans>;
  const addressOf = (userId: number) => users?.find(({ id }) => id === userId)?.email;
  const names = people.map(({ id, name }) => name || addressOf(id) || t`User ${id}`).join(', ');
  const rest = total_count - people.length;
  return (
    <>
      {names}
      {rest > 0 && <Plural value={rest} one=" and # other" other=" and # others" />}
    </>
  );
}
