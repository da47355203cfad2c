import { Trans, useLingui } from '@lingui/react/macro';
import { gridRequest } from '../../grid/rows/row-source.ts';
import { CopiedText } from '../../parts/blocks/copied-text.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import pageStyles from '../../parts/page.module.css';
import type { ShownView } from '../use-view.ts';
import { curlCommand } from './curl-command.ts';

type CurlDialogProps = { tableId: number; view: ShownView; onClose: () => void };

const shownRows = 100;

/** The rows in view as a call of the API, for who writes a program. */
export function CurlDialog({ tableId, view, onClose }: CurlDialogProps) {
  const { t } = useLingui();
  const { q, asOf, filters, sort } = view;
  const body = gridRequest({ tableId, q, asOf }, { filters, sort, start: 0, end: shownRows });
  return (
    <ModalDialog label={t`These rows by the API`} onClose={onClose}>
      <p className={pageStyles.quiet}>
        <Trans>
          The first {shownRows} rows with this search, these filters and this order. ALMANAC_TOKEN is an access token of
          an application, with the scope api:write. <a href="/docs">Reference of the API</a>
        </Trans>
      </p>
      <CopiedText
        text={curlCommand(`${window.location.origin}/api/v1/table_data/grid`, body)}
        name={<Trans>Copy the command</Trans>}
      />
    </ModalDialog>
  );
}
