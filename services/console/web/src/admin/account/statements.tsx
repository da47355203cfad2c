import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { localeOf } from '../../language/locale.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/form/fields.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import styles from './account.module.css';
import { lastMonths } from './last-months.ts';

const shownMonths = 13;

/** The statement of a month as a file. */
export function Statements() {
  const { i18n } = useLingui();
  const months = lastMonths(new Date(), shownMonths);
  const [month, setMonth] = useState(months[0] ?? '');
  const format = new Intl.DateTimeFormat(localeOf(i18n.locale), { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const download = useAct(
    async (month: string) => {
      const text = await client.get('/usage/statement', { params: { query: { month } }, parseAs: 'text' });
      save(text as unknown as string, `almanac-statement-${month}.csv`);
    },
    { changes: [] },
  );
  return (
    <section className={pageStyles.section} aria-labelledby="statements-title">
      <h2 id="statements-title">
        <Trans>Statements</Trans>
      </h2>
      <Refusal error={download.error} />
      <div className={styles.months}>
        <SelectField
          name="month"
          label={<Trans>Month</Trans>}
          options={months.map((id) => ({ id, name: format.format(new Date(`${id}-01T00:00:00Z`)) }))}
          defaultValue={month}
          onChange={setMonth}
        />
        <Button onPress={() => download.mutate(month)} isDisabled={download.isPending}>
          <Trans>Download as CSV</Trans>
        </Button>
      </div>
    </section>
  );
}

// A link can't carry the header that calls of the console need, so the page makes the file.
function save(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
