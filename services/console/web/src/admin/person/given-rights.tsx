import { Trans, useLingui } from '@lingui/react/macro';
import { Check } from 'lucide-react';
import { ScrolledTable } from '../../parts/blocks/scrolled-table.tsx';
import styles from '../admin.module.css';
import type { Group } from '../queries.ts';
import { writePlace } from '../rights/place.ts';
import { rights } from '../rights/rights.ts';
import { usePlaces } from '../rights/use-places.ts';
import { useRightWords } from '../rights/use-right-words.ts';
import { rightsOf } from './rights-of.ts';

/** Which rights a user has where, and by which groups. */
export function GivenRights({ groups, userId }: { groups: Group[]; userId: number }) {
  const { t } = useLingui();
  const words = useRightWords();
  const { nameOf } = usePlaces();
  const given = rightsOf(groups, userId);
  if (given.length === 0)
    return (
      <p className={styles.help}>
        <Trans>No group gives them a right yet.</Trans>
      </p>
    );
  return (
    <ScrolledTable label={t`Rights by place`}>
      <thead>
        <tr>
          <th scope="col">
            <Trans>Where</Trans>
          </th>
          {rights.map((right) => (
            <th key={right} scope="col" title={words[right].help}>
              {words[right].name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {given.map(({ place, by }) => (
          <tr key={writePlace(place)}>
            <th scope="row">{nameOf(place)}</th>
            {rights.map((right) => (
              <td key={right}>
                {by[right] && (
                  <>
                    <Check size={16} aria-hidden /> <span>{by[right].join(', ')}</span>
                  </>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </ScrolledTable>
  );
}
