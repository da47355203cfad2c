// What a table is called and belongs to: the draft, and where it differs what is in service.
import { Trans, useLingui } from '@lingui/react/macro';
import type { Table } from '../../api/queries.ts';
import { Fact, Facts } from '../../parts/blocks/facts.tsx';
import { ChangeSign } from '../../parts/change-sign.tsx';
import type { DefinitionDetails } from '../definition/queries.ts';
import styles from './structure.module.css';

type PropertiesProps = { definition: DefinitionDetails; deployed: Table | undefined };

export function Properties({ definition, deployed }: PropertiesProps) {
  const { t } = useLingui();
  const sources = { manual: t`entered and imported by people`, source: t`from imports alone` };
  const facts: { name: string; draft: string; before: string | undefined }[] = [
    { name: t`Name`, draft: definition.name, before: deployed?.name },
    {
      name: t`Description`,
      draft: definition.description ?? t`none`,
      before: deployed && (deployed.description ?? t`none`),
    },
    { name: t`Domain`, draft: definition.domain.name, before: deployed?.domain.name },
    { name: t`Rows`, draft: sources[definition.load_type], before: deployed && sources[deployed.load_type] },
    {
      name: t`References show`,
      draft: shownColumn(definition) ?? t`what fits best`,
      before: deployed && (shownColumn(deployed) ?? t`what fits best`),
    },
  ];
  return (
    <Facts>
      <Fact name={t`Key`}>
        <code>{definition.key}</code>
      </Fact>
      {facts.map(({ name, draft, before }) => (
        <Fact key={name} name={name}>
          {before === undefined || before === draft ? (
            draft
          ) : (
            <>
              <ChangeSign kind="update" />
              {draft}
              <span className={styles.note}>
                <Trans>in service: {before}</Trans>
              </span>
            </>
          )}
        </Fact>
      ))}
    </Facts>
  );
}

type Shown = { lookup_display_column_id: number | null; column_definitions: { id: number; name: string }[] };

/** The column by which other tables show the rows that they refer to. */
function shownColumn({ lookup_display_column_id: id, column_definitions: columns }: Shown): string | undefined {
  return columns.find((column) => column.id === id)?.name;
}
