import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { Form } from '../../parts/form/form.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';

type TakeOutDialogProps = { count: number; error: unknown; isPending: boolean; onYes: () => void; onClose: () => void };

/** Asks before changes are taken out of a draft: they are proposed again by hand alone. */
export function TakeOutDialog({ count, error, isPending, onYes, onClose }: TakeOutDialogProps) {
  const { t } = useLingui();
  return (
    <ModalDialog label={t`Take changes out of the request`} onClose={onClose}>
      <Form
        error={error}
        isPending={isPending}
        submit={<Plural value={count} one="Take # change out" other="Take # changes out" />}
        onCancel={onClose}
        onSubmit={onYes}
      >
        <p>
          <Trans>The rows stay as they are. What is taken out is not proposed any more.</Trans>
        </p>
      </Form>
    </ModalDialog>
  );
}
