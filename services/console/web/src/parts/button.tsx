import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import styles from './button.module.css';

type ButtonProps = Omit<AriaButtonProps, 'className' | 'children'> & {
  /** One primary button a view; quiet ones have no border. */
  kind?: 'primary' | 'plain' | 'quiet';
  children: ReactNode;
};

export function Button({ kind = 'plain', ...props }: ButtonProps) {
  return <AriaButton {...props} className={`${styles.button} ${kind === 'plain' ? '' : styles[kind]}`} />;
}
