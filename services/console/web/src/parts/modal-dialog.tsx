import { useLingui } from '@lingui/react/macro';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button } from './button.tsx';
import styles from './dialog.module.css';

type ModalDialogProps = {
  label: string;
  onClose: () => void /** Without a head, the content has its own. */;
  bare?: boolean;
  /** Stays until it is closed with a button: what it shows is not shown again. */
  isKept?: boolean;
  children: ReactNode;
};

/** A dialog over the page; Escape and a press beside it close it. */
export function ModalDialog({ label, onClose, bare = false, isKept = false, children }: ModalDialogProps) {
  const { t } = useLingui();
  return (
    <ModalOverlay
      isOpen
      isDismissable={!isKept}
      isKeyboardDismissDisabled={isKept}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className={styles.overlay as string}
    >
      <Modal className={styles.modal as string}>
        <Dialog className={styles.dialog as string} aria-label={label}>
          {bare ? (
            children
          ) : (
            <>
              <div className={styles.head}>
                <Heading slot="title" level={2}>
                  {label}
                </Heading>
                <Button kind="quiet" aria-label={t`Close`} onPress={onClose}>
                  <X size={16} aria-hidden />
                </Button>
              </div>
              <div className={styles.body}>{children}</div>
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
