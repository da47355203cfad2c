import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/form/fields.tsx';
import styles from '../admin.module.css';
import { type Place, type PlaceKind, writePlace } from '../rights/place.ts';
import { usePlaces } from '../rights/use-places.ts';

/** Adds a row to the matrix: a domain, a branch or a table that has none yet. */
export function AddPlace({ shown, onAdd }: { shown: Place[]; onAdd: (place: Place) => void }) {
  const { t } = useLingui();
  const { kinds, optionsOf } = usePlaces();
  const [kind, setKind] = useState<PlaceKind>('domain');
  const [chosen, setChosen] = useState<number>();
  const has = new Set(shown.map(writePlace));
  const options = optionsOf(kind).filter(({ id }) => !has.has(writePlace({ resource_type: kind, resource_id: id })));
  const id = options.some((option) => option.id === chosen) ? chosen : options[0]?.id;
  return (
    <div className={styles.adding}>
      <SelectField
        name="kind"
        label={<Trans>Another place</Trans>}
        options={kinds}
        defaultValue={kind}
        onChange={(chosen) => setKind(chosen as PlaceKind)}
      />
      <SelectField
        key={`${kind}:${options.map(({ id }) => id).join()}`}
        name="place"
        label={<Trans>namely</Trans>}
        options={
          options.length > 0
            ? options.map(({ id, name }) => ({ id: String(id), name }))
            : [{ id: '', name: t`all are there` }]
        }
        defaultValue={id === undefined ? undefined : String(id)}
        onChange={(chosen) => setChosen(Number(chosen))}
      />
      <Button
        isDisabled={id === undefined}
        onPress={() => id !== undefined && onAdd({ resource_type: kind, resource_id: id })}
      >
        <Trans>Add the place</Trans>
      </Button>
    </div>
  );
}
