import { Trans } from '@lingui/react/macro';
import formStyles from '../../parts/form/form.module.css';
import tickStyles from '../../parts/form/tick-list.module.css';
import { scopes, useScopeWords } from './use-scope-words.ts';

type ScopeChoiceProps = { ticked: ReadonlySet<string>; onChange: (ticked: Set<string>) => void };

/** What the tokens of an application are good for. For a person they never exceed their rights. */
export function ScopeChoice({ ticked, onChange }: ScopeChoiceProps) {
  const words = useScopeWords();
  const toggle = (scope: string) => {
    const next = new Set(ticked);
    if (!next.delete(scope)) next.add(scope);
    onChange(next);
  };
  return (
    <fieldset className={tickStyles.set}>
      <legend>
        <Trans>What it may do</Trans>
      </legend>
      <div className={tickStyles.list}>
        {scopes.map((scope) => (
          <label key={scope}>
            <input type="checkbox" checked={ticked.has(scope)} onChange={() => toggle(scope)} />
            <span>
              {words[scope].name}{' '}
              <span className={tickStyles.note}>
                {words[scope].help} · <code>{scope}</code>
              </span>
            </span>
          </label>
        ))}
      </div>
      <p className={formStyles.help}>
        <Trans>Give it no more than it needs.</Trans>
      </p>
    </fieldset>
  );
}
