import { useLingui } from '@lingui/react/macro';
import { ListFilter } from 'lucide-react';
import { ChoiceMenu } from '../choice-menu.tsx';

type StateMenuProps<State extends string> = {
  /** The states with their words, in the order of the menu. */
  words: Record<State, string>;
  states: readonly State[];
  chosen: State | undefined;
  onChoose: (state: State | undefined) => void;
};

/** Narrows a list to one state, or to none in particular. */
export function StateMenu<State extends string>({ words, states, chosen, onChoose }: StateMenuProps<State>) {
  const { t } = useLingui();
  const all = { id: 'all', name: t`all states` };
  const name = chosen === undefined ? all.name : words[chosen];
  const choices = [all, ...states.map((id) => ({ id, name: words[id] }))];
  const choose = (id: string) => onChoose(states.find((state) => state === id));
  return (
    <ChoiceMenu
      label={t`State: ${name}`}
      groups={[{ id: 'state', title: t`State`, choices, chosen: chosen ?? 'all', onChoose: choose }]}
    >
      <ListFilter size={16} aria-hidden />
      {name}
    </ChoiceMenu>
  );
}
