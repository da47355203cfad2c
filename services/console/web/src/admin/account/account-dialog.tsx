import { Trans, useLingui } from '@lingui/react/macro';
import { client, type Schemas } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField, SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useDateStyles } from './use-date-styles.ts';

type Account = Schemas['Account'];
type AccountDialogProps = { account: Account; onClose: () => void; onSaved: () => void };

/** Changes the name, how dates in files are read, and what happens beyond the allowance. */
export function AccountDialog({ account, onClose, onSaved }: AccountDialogProps) {
  const { t } = useLingui();
  const dateStyles = useDateStyles();
  const save = useAct(
    ({ name = '', date_style, overage_enabled }: Record<string, string>) =>
      client.patch('/account', {
        body: {
          account: {
            name,
            date_style: date_style as Account['date_style'],
            overage_enabled: overage_enabled === 'on',
          },
        },
      }),
    { changes: [['account'], ['me']], onDone: onSaved },
  );
  return (
    <FormDialog label={t`Change the account`} submit={<Trans>Save</Trans>} act={save} onClose={onClose}>
      <TextField name="name" label={<Trans>Name</Trans>} defaultValue={account.name} autoFocus isRequired />
      <SelectField
        name="date_style"
        label={<Trans>Dates in files</Trans>}
        help={<Trans>How imports read dates, where no mapping says another.</Trans>}
        options={Object.entries(dateStyles).map(([id, name]) => ({ id, name }))}
        defaultValue={account.date_style}
      />
      <CheckField
        name="overage_enabled"
        label={<Trans>Calls beyond the allowance go on</Trans>}
        help={
          <Trans>They are charged at the rate of the plan. Otherwise programs are refused until the next month.</Trans>
        }
        isChecked={account.overage_enabled}
      />
    </FormDialog>
  );
}
