import type { ReactNode } from 'react';
import { ModalDialog } from '../modal-dialog.tsx';
import { Form } from './form.tsx';

type FormDialogProps = {
  label: string;
  submit: ReactNode;
  /** Called with the values of the fields by their names. */
  act: { error: unknown; isPending: boolean; mutate: (values: Record<string, string>) => void };
  onClose: () => void;
  children: ReactNode;
};

/** A dialog that is one form, for one act. */
export function FormDialog({ label, submit, act, onClose, children }: FormDialogProps) {
  return (
    <ModalDialog label={label} onClose={onClose}>
      <Form error={act.error} isPending={act.isPending} submit={submit} onCancel={onClose} onSubmit={act.mutate}>
        {children}
      </Form>
    </ModalDialog>
  );
}
