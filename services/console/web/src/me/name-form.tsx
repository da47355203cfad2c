import { Trans } from '@lingui/react/macro';
import { client, type Schemas } from '../api/client.ts';
import { useAct } from '../api/use-act.ts';
import { TextField } from '../parts/form/fields.tsx';
import { Form } from '../parts/form/form.tsx';
import styles from './me.module.css';

export function NameForm({ user }: { user: Schemas['OwnUser'] }) {
  const save = useAct(
    ({ first_name = '', last_name = '' }: Record<string, string>) =>
      client.patch('/me', { body: { first_name, last_name } }),
    { changes: [['me'], ['people'], ['users']] },
  );
  return (
    <div className={styles.narrow}>
      <Form error={save.error} isPending={save.isPending} submit={<Trans>Save name</Trans>} onSubmit={save.mutate}>
        <TextField
          name="first_name"
          label={<Trans>First name</Trans>}
          defaultValue={user.first_name}
          autoComplete="given-name"
        />
        <TextField
          name="last_name"
          label={<Trans>Last name</Trans>}
          defaultValue={user.last_name}
          autoComplete="family-name"
        />
      </Form>
      <p role="status" className={styles.done}>
        {save.isSuccess && <Trans>Your name is saved.</Trans>}
      </p>
    </div>
  );
}
