import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import styles from './button.module.css';

/** One primary button a view; quiet ones have no border. */
type ButtonKind = 'primary' | 'plain' | 'quiet';

type ButtonProps = Omit<AriaButtonProps, 'className' | 'children'> & { kind?: ButtonKind; children: ReactNode };

export function Button({ kind = 'plain', ...props }: ButtonProps) {
  return <AriaButton {...props} className={buttonLook(kind)} />;
}

/** The classes of a button, for a link that is the act of a page. */
export function buttonLook(kind: ButtonKind): string {
  return `${styles.button} ${kind === 'plain' ? '' : styles[kind]}`;
}
