// What mails say. A template is one entry of the list below: the values it needs (never a secret),
// the button, the sentences. `render-mail.ts` lays them out and escapes names.
import { z } from 'zod';
import { approvalTemplates } from './approval-templates.ts';
import { billingTemplates } from './billing-templates.ts';
import { changeRequestTemplates } from './change-request-templates.ts';
import { type Template, template } from './template.ts';
import { webhookTemplates } from './webhook-templates.ts';

const none = z.object({});

const templates: Record<string, Template> = {
  invitation: template({
    values: none,
    button: { purpose: 'invitation', label: 'Choose a password' },
    write: ({ person, account, until }) => ({
      subject: `You are invited to ${account} on Almanac`,
      before: [
        `Hello ${person},`,
        `An administrator of ${account} has made a login for you on Almanac, where ${account} keeps its reference data.`,
        `Choose a password to begin. The link works once, until ${until}.`,
      ],
      after: ['If you did not expect this, you need not do anything.'],
    }),
  }),

  password_reset: template({
    values: none,
    urgent: true,
    button: { purpose: 'password_reset', label: 'Set a new password' },
    write: ({ person, account, until }) => ({
      subject: 'Set a new Almanac password',
      before: [
        `Hello ${person},`,
        `Someone, hopefully you, has asked for a new password for your login to ${account} on Almanac.`,
        `The link works once, until ${until}.`,
      ],
      after: ['If it was not you, ignore this mail: your password stays as it is.'],
    }),
  }),

  password_changed: template({
    values: none,
    urgent: true,
    write: ({ person, account }) => ({
      subject: 'Your Almanac password was changed',
      before: [
        `Hello ${person},`,
        `The password of your login to ${account} on Almanac was changed.`,
        'If it was not you, tell an administrator of your account at once.',
      ],
    }),
  }),

  ...approvalTemplates,
  ...changeRequestTemplates,
  ...billingTemplates,
  ...webhookTemplates,
};

/** The template of that name, if there is one. */
export function findTemplate(name: string): Template | undefined {
  return Object.hasOwn(templates, name) ? templates[name] : undefined;
}

/** The names of urgent templates. */
export const urgentTemplates: string[] = Object.keys(templates).filter((name) => templates[name]?.urgent);
