// The rights of a group by place. Ticks are saved together, after a summary of what they change.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Fact, Facts } from '../../parts/blocks/facts.tsx';
import { Notice } from '../../parts/blocks/notice.tsx';
import { ScrolledTable } from '../../parts/blocks/scrolled-table.tsx';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import styles from '../admin.module.css';
import type { Group } from '../queries.ts';
import { type Place, writePlace } from '../rights/place.ts';
import { rights } from '../rights/rights.ts';
import { usePlaces } from '../rights/use-places.ts';
import { useRightWords } from '../rights/use-right-words.ts';
import { AddPlace } from './add-place.tsx';
import { MatrixRow } from './matrix-row.tsx';
import {
  type GivenRight,
  permissionChanges,
  placesOf,
  ticksOf,
  toPermissions,
  writeTick,
} from './permission-changes.ts';

type RightsMatrixProps = { group: Group; isFixed: boolean; onSaved: () => void };

export function RightsMatrix({ group, isFixed, onSaved }: RightsMatrixProps) {
  const { t } = useLingui();
  const words = useRightWords();
  const saved = ticksOf(group);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(saved);
  const [added, setAdded] = useState<Place[]>([]);
  const shown = placesOf([...saved, ...ticked, ...added.map((place) => writeTick('view', place))]);
  const discard = () => {
    setTicked(saved);
    setAdded([]);
  };
  const toggle = (tick: string) => {
    const next = new Set(ticked);
    if (!next.delete(tick)) next.add(tick);
    setTicked(next);
  };
  return (
    <section className={pageStyles.section} aria-labelledby="rights-title">
      <h2 id="rights-title">
        <Trans>Rights</Trans>
      </h2>
      {shown.length > 0 ? (
        <ScrolledTable label={t`Rights by place`}>
          <thead>
            <tr>
              <th scope="col">
                <Trans>Where</Trans>
              </th>
              {rights.map((right) => (
                <th key={right} scope="col">
                  {words[right].name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((place) => (
              <MatrixRow
                key={writePlace(place)}
                place={place}
                ticked={ticked}
                saved={saved}
                onToggle={isFixed ? undefined : toggle}
              />
            ))}
          </tbody>
        </ScrolledTable>
      ) : (
        <p className={styles.help}>
          <Trans>It gives no rights yet. Choose a place where its members may do something.</Trans>
        </p>
      )}
      {!isFixed && <AddPlace shown={shown} onAdd={(place) => setAdded([...added, place])} />}
      <Summary group={group} ticked={ticked} onDiscard={discard} onSaved={onSaved} />
      <RightsHelp />
    </section>
  );
}

type SummaryProps = { group: Group; ticked: ReadonlySet<string>; onDiscard: () => void; onSaved: () => void };

function Summary({ group, ticked, onDiscard, onSaved }: SummaryProps) {
  const { added, taken } = permissionChanges(ticksOf(group), ticked);
  const count = added.length + taken.length;
  const save = useAct(
    () =>
      client.patch('/user_groups/{id}', {
        params: { path: { id: group.id } },
        body: { user_group: { permissions: toPermissions(ticked) } },
      }),
    { changes: [['user_groups'], ['explanations'], ['me']], onDone: onSaved },
  );
  if (count === 0) return null;
  return (
    <div className={styles.changes} role="status">
      <Notice>
        <strong>
          <Plural
            value={group.members.length}
            _0="It has no members yet. This changes what they will be allowed:"
            one="This changes what # member may do:"
            other="This changes what # members may do:"
          />
        </strong>
        <ChangeLines sign="+" changes={added} />
        <ChangeLines sign="−" changes={taken} />
        <Refusal error={save.error} />
        <div className={pageStyles.tools} style={{ marginTop: 8 }}>
          <Button kind="primary" onPress={() => save.mutate()} isDisabled={save.isPending}>
            <Plural value={count} one="Save # change" other="Save # changes" />
          </Button>
          <Button onPress={onDiscard} isDisabled={save.isPending}>
            <Trans>Discard</Trans>
          </Button>
        </div>
      </Notice>
    </div>
  );
}

function ChangeLines({ sign, changes }: { sign: '+' | '−'; changes: GivenRight[] }) {
  const words = useRightWords();
  const { nameOf } = usePlaces();
  return changes.map(({ right, place }) => (
    <p key={writeTick(right, place)}>
      <span className={sign === '+' ? styles.plus : styles.minus}>{sign}</span> {words[right].name}: {nameOf(place)}
    </p>
  ));
}

function RightsHelp() {
  const words = useRightWords();
  return (
    <div className={styles.help} style={{ marginTop: 12 }}>
      <Facts>
        {rights.map((right) => (
          <Fact key={right} name={words[right].name}>
            {words[right].help}
          </Fact>
        ))}
      </Facts>
    </div>
  );
}
