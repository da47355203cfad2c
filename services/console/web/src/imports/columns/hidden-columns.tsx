import { Trans } from '@lingui/react/macro';
import importStyles from '../imports.module.css';

/** Of files that a browser can't look into. */
export function HiddenColumns() {
  return (
    <p className={importStyles.notice}>
      <Trans>
        The columns of this file can’t be shown before it is sent. Columns with the names of the table’s columns fill
        them. When the file has other columns, the next step says which.
      </Trans>
    </p>
  );
}
