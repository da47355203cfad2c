import { Trans } from '@lingui/react/macro';
import { SelectField } from '../../parts/form/fields.tsx';
import type { User } from '../queries.ts';
import { usePeopleWords } from './use-people-words.ts';

/** The licences of people, each with what it allows. */
export function LicenseField({ defaultValue }: { defaultValue?: User['license_type'] }) {
  const { license } = usePeopleWords();
  const options = (['developer', 'end_user'] as const).map((id) => ({
    id,
    name: `${license[id].name}: ${license[id].help}`,
  }));
  return (
    <SelectField name="license_type" label={<Trans>Licence</Trans>} options={options} defaultValue={defaultValue} />
  );
}
