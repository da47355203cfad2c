// Makes a branch, with copies of tables that one wants to work on.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useBranch } from '../../address/use-branch.ts';
import { client, type Schemas } from '../../api/client.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField, SelectField, TextField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';
import { TickList } from '../../parts/form/tick-list.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';

type NewBranchDialogProps = {
  /** The branch that it begins from, unless another one is chosen. */ parentId?: number;
  onClose: () => void;
};

export function NewBranchDialog({ parentId, onClose }: NewBranchDialogProps) {
  const { t } = useLingui();
  const { branch, branches } = useBranch();
  return (
    <ModalDialog label={t`New branch`} onClose={onClose}>
      {branch ? (
        <NewBranch
          first={parentId ?? branch.id}
          parents={branches.map(({ id, name }) => ({ id: String(id), name }))}
          onClose={onClose}
        />
      ) : (
        <Skeleton lines={5} />
      )}
    </ModalDialog>
  );
}

type NewBranchProps = { first: number; parents: { id: string; name: string }[]; onClose: () => void };

function NewBranch({ first, parents, onClose }: NewBranchProps) {
  const navigate = useNavigate();
  const [parentId, setParentId] = useState(first);
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const make = useAct((values: Record<string, string>) => client.post('/branches', { body: bodyOf(values, ticked) }), {
    changes: [['branches']],
    // One works on what one has made.
    onDone: ({ id }) => void navigate({ to: '/branches/$id', params: { id: String(id) }, search: { branch: id } }),
  });
  return (
    <Form
      error={make.error}
      isPending={make.isPending}
      submit={<Trans>Make the branch</Trans>}
      onCancel={onClose}
      onSubmit={make.mutate}
    >
      <TextField name="name" label={<Trans>Name</Trans>} autoFocus isRequired />
      <TextField name="description" label={<Trans>Description</Trans>} />
      <SelectField
        name="parent"
        label={<Trans>From the branch</Trans>}
        options={parents}
        defaultValue={String(first)}
        onChange={(id) => {
          setParentId(Number(id));
          setTicked(new Set());
        }}
      />
      <Tables parentId={parentId} ticked={ticked} onChange={setTicked} />
      {ticked.size > 0 && (
        <>
          <CheckField name="rows" label={<Trans>With their rows</Trans>} isChecked />
          <CheckField name="referenced" label={<Trans>With the tables that they refer to</Trans>} isChecked />
          <CheckField
            name="deploy"
            label={<Trans>Deploy them at once</Trans>}
            help={<Trans>Without it they have no rows until they are deployed.</Trans>}
            isChecked
          />
        </>
      )}
      <CheckField
        name="private"
        label={<Trans>Private</Trans>}
        help={<Trans>Only you, administrators, and those whom you add to its groups see it.</Trans>}
      />
    </Form>
  );
}

type TablesProps = { parentId: number; ticked: ReadonlySet<number>; onChange: (ticked: Set<number>) => void };

function Tables({ parentId, ticked, onChange }: TablesProps) {
  const { t } = useLingui();
  const { data, error, refetch } = useQuery(definitionsQuery(parentId));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={3} />;
  return (
    <TickList
      label={<Trans>Tables to copy; others can be copied later</Trans>}
      searchLabel={t`Search tables`}
      items={data.map(({ id, name, domain }) => ({ id, name, section: domain.name }))}
      ticked={ticked}
      onChange={onChange}
    />
  );
}

function bodyOf(values: Record<string, string>, ticked: ReadonlySet<number>): Schemas['CreateBranchRequest'] {
  const { name = '', description = '', parent } = values;
  return {
    branch: {
      name,
      description: description.trim() === '' ? null : description,
      parent_branch_id: Number(parent),
      branch_type: values.private === 'on' ? 'private' : 'shared',
    },
    ...(ticked.size > 0 && {
      copy: {
        table_definition_ids: [...ticked],
        with_referenced: values.referenced === 'on',
        include_data: values.rows === 'on',
        deploy: values.deploy === 'on',
      },
    }),
  };
}
