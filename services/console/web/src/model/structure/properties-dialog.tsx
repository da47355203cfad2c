import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { type DefinitionDetails, domainsQuery, draftChanges } from '../definition/queries.ts';

type PropertiesDialogProps = { definition: DefinitionDetails; onClose: () => void };

/** Changes what a draft is called and belongs to. Its key stays: programs use it. */
export function PropertiesDialog({ definition, onClose }: PropertiesDialogProps) {
  const { t } = useLingui();
  const { data: domains = [] } = useQuery(domainsQuery);
  const { id, name, description, domain, load_type, lookup_display_column_id: shown, column_definitions } = definition;
  const offered = domains.filter((one) => one.id === domain.id || one.can?.includes('create_table'));
  const save = useAct(
    (values: Record<string, string>) => {
      const table_definition = {
        name: values.name ?? '',
        description: (values.description ?? '').trim() === '' ? null : values.description,
        domain_id: Number(values.domain_id),
        load_type: values.load_type === 'source' ? ('source' as const) : ('manual' as const),
        lookup_display_column_id: values.shown === '' ? null : Number(values.shown),
      };
      return client.patch('/table_definitions/{id}', {
        params: { path: { id: String(id) } },
        body: { table_definition },
      });
    },
    { changes: draftChanges, onDone: onClose },
  );
  return (
    <FormDialog label={t`Change ${name}`} submit={<Trans>Save to the draft</Trans>} act={save} onClose={onClose}>
      <TextField name="name" label={<Trans>Name</Trans>} defaultValue={name} autoFocus isRequired />
      <TextField name="description" label={<Trans>Description</Trans>} defaultValue={description ?? ''} isLong />
      <SelectField
        // The domains may come after the dialog: the browser's list keeps its own choice.
        key={offered.length}
        name="domain_id"
        label={<Trans>Domain</Trans>}
        options={(offered.length > 0 ? offered : [domain]).map((one) => ({ id: String(one.id), name: one.name }))}
        defaultValue={String(domain.id)}
      />
      <SelectField
        name="load_type"
        label={<Trans>Rows</Trans>}
        options={[
          { id: 'manual', name: t`entered and imported by people` },
          { id: 'source', name: t`from imports alone` },
        ]}
        defaultValue={load_type}
      />
      <SelectField
        name="shown"
        label={<Trans>References show</Trans>}
        help={<Trans>The column by which other tables show a row of this one.</Trans>}
        options={[
          { id: '', name: t`what fits best` },
          ...column_definitions.map((column) => ({ id: String(column.id), name: column.name })),
        ]}
        defaultValue={shown === null ? '' : String(shown)}
      />
    </FormDialog>
  );
}
