import type { ReactNode } from 'react';
import { ModalDialog } from '../modal-dialog.tsx';
import { Form } from './form.tsx';

type ConfirmDialogProps = {
  label: string;
  /** What the act does, before it is done. */
  children: ReactNode;
  submit: ReactNode;
  act: { error: unknown; isPending: boolean; mutate: () => void };
  onClose: () => void;
};

/** Asks once before an act that is not taken back with one press. */
export function ConfirmDialog({ label, children, submit, act, onClose }: ConfirmDialogProps) {
  return (
    <ModalDialog label={label} onClose={onClose}>
      <Form
        error={act.error}
        isPending={act.isPending}
        submit={submit}
        onCancel={onClose}
        onSubmit={() => act.mutate()}
      >
        <div>{children}</div>
      </Form>
    </ModalDialog>
  );
}
