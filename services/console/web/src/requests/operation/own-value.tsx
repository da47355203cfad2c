import { Trans, useLingui } from '@lingui/react/macro';
import { plainText } from '../../cells/cell-text.ts';
import { habitsOf, readTyped } from '../../cells/typed-values.ts';
import type { DiffColumn } from '../../diff/diff-columns.ts';
import { localeOf } from '../../language/locale.ts';
import { InPlaceForm } from '../../parts/review/in-place-form.tsx';
import type { RowActs } from './row-acts.ts';

type OwnValueProps = { id: number; name: string; column: DiffColumn['column']; start: unknown; acts: RowActs };

/** A value of one's own for a cell in conflict: neither what was proposed nor what is there. */
export function OwnValue({ id, name, column, start, acts }: OwnValueProps) {
  const { t, i18n } = useLingui();
  const settle = (text: string) => {
    const value = column ? readTyped(text, column, habitsOf(localeOf(i18n.locale))) : text;
    acts.settle({ id, column: name, side: { value } });
  };
  return (
    <InPlaceForm
      aria-label={t`Another value of ${name}`}
      defaultValue={plainText(start)}
      submit={<Trans>Use it</Trans>}
      onAnswer={settle}
      onCancel={() => acts.ask(undefined)}
    />
  );
}
