// Asks the server why a user may do something at a place, or may not.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { SelectField } from '../../parts/form/fields.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from '../admin.module.css';
import { explanationQuery, type Question } from '../queries.ts';
import { type PlaceKind, writePlace } from '../rights/place.ts';
import { type Right, rights } from '../rights/rights.ts';
import { usePlaces } from '../rights/use-places.ts';
import { useRightWords } from '../rights/use-right-words.ts';
import { placeOf } from './explain-view.ts';
import { Explanation } from './explanation.tsx';

export function Explain({ userId, name }: { userId: number; name: string }) {
  const view = useSearch({ from: '/admin/people/$id' });
  const navigate = useNavigate({ from: '/admin/people/$id' });
  const words = useRightWords();
  const { kinds, optionsOf } = usePlaces();
  const right = view.right ?? 'edit';
  const place = placeOf(view);
  const kind = place?.resource_type ?? 'table_definition';
  const show = (changes: { right?: Right; place?: string | undefined }) =>
    void navigate({ search: { ...view, right, ...changes }, replace: true, resetScroll: false });
  const showPlace = (kind: PlaceKind, id: number | undefined) =>
    show({ place: id === undefined ? undefined : writePlace({ resource_type: kind, resource_id: id }) });
  return (
    <>
      <div className={styles.questions}>
        <SelectField
          key={`right:${right}`}
          name="right"
          label={<Trans>May they</Trans>}
          options={rights.map((id) => ({ id, name: words[id].name }))}
          defaultValue={right}
          onChange={(chosen) => show({ right: chosen as Right })}
        />
        <SelectField
          key={`kind:${kind}`}
          name="kind"
          label={<Trans>on</Trans>}
          options={kinds}
          defaultValue={kind}
          onChange={(chosen) => showPlace(chosen as PlaceKind, optionsOf(chosen as PlaceKind)[0]?.id)}
        />
        <SelectField
          key={`place:${kind}:${place?.resource_id}:${optionsOf(kind).length}`}
          name="place"
          label={<Trans>namely</Trans>}
          options={[
            ...(place ? [] : [{ id: '', name: '—' }]),
            ...optionsOf(kind).map(({ id, name }) => ({ id: String(id), name })),
          ]}
          defaultValue={place ? String(place.resource_id) : ''}
          onChange={(chosen) => showPlace(kind, Number(chosen))}
        />
      </div>
      <p className={styles.help}>{words[right].help}</p>
      {place && <Answer question={{ user_id: userId, action: right, ...place }} name={name} />}
    </>
  );
}

function Answer({ question, name }: { question: Question; name: string }) {
  const { data, error, refetch } = useQuery(explanationQuery(question));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={3} />;
  return <Explanation explanation={data} name={name} />;
}
