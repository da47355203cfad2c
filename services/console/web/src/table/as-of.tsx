// The instant that the rows are shown as of.
import { Trans, useLingui } from '@lingui/react/macro';
import { History } from 'lucide-react';
import { useState } from 'react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { localeOf } from '../language/locale.ts';
import { Button } from '../parts/button.tsx';
import menu from '../parts/menu.module.css';
import styles from './table.module.css';

type AsOfProps = { asOf: string | undefined; onChange: (asOf: string | undefined) => void };

export function AsOf({ asOf, onChange }: AsOfProps) {
  const { t } = useLingui();
  return (
    <DialogTrigger>
      <Button kind="quiet">
        <History size={16} aria-hidden />
        {asOf === undefined ? <Trans>Now</Trans> : <Trans>In the past</Trans>}
      </Button>
      <Popover className={menu.popover as string} placement="bottom end">
        <Dialog aria-label={t`Rows as of an instant`} style={{ outline: 'none' }}>
          {({ close }) => (
            <InstantForm
              asOf={asOf}
              onChange={(instant) => {
                close();
                onChange(instant);
              }}
            />
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function InstantForm({ asOf, onChange }: AsOfProps) {
  const [typed, setTyped] = useState(localText(asOf === undefined ? new Date() : new Date(asOf)));
  const instant = new Date(typed);
  const isValid = !Number.isNaN(instant.getTime()) && instant.getTime() <= Date.now();
  return (
    <form
      className={styles.asOf}
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onChange(instant.toISOString());
      }}
    >
      <label>
        <Trans>Show the rows as they were on</Trans>
        <input
          type="datetime-local"
          step="1"
          value={typed}
          max={localText(new Date())}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <div className={styles.actions}>
        <Button onPress={() => onChange(undefined)}>
          <Trans>Now</Trans>
        </Button>
        <Button kind="primary" type="submit" isDisabled={!isValid}>
          <Trans>Show</Trans>
        </Button>
      </div>
    </form>
  );
}

/** Says all the time that these are rows of the past. */
export function PastStrip({ asOf, onNow }: { asOf: string; onNow: () => void }) {
  const { i18n } = useLingui();
  const format = new Intl.DateTimeFormat(localeOf(i18n.locale), { dateStyle: 'medium', timeStyle: 'medium' });
  const instant = format.format(new Date(asOf));
  return (
    <div className={styles.past} role="status">
      <History size={16} aria-hidden />
      <span>
        <Trans>As of {instant}: read only</Trans>
      </span>
      <Button kind="quiet" onPress={onNow}>
        <Trans>Back to now</Trans>
      </Button>
    </div>
  );
}

// What a field of the browser takes: local time with seconds, without a zone.
function localText(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
