// Mails about webhook endpoints, to the administrators of an account.
import { z } from 'zod';
import { type Template, template } from './template.ts';

// Without the path, which may contain a secret of the receiver.
const switchedOff = z.object({ host: z.string().max(300), failing_since: z.iso.datetime() });

const times = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

export const webhookTemplates: Record<string, Template> = {
  webhook_switched_off: template({
    values: switchedOff,
    see: { label: 'The endpoints, over the API', path: () => '/api/v1/webhook_endpoints' },
    write: ({ person, account }, { host, failing_since }) => ({
      subject: `A webhook of ${account} on Almanac was switched off`,
      before: [
        `Hello ${person},`,
        `The webhook of ${account} to ${host} has failed since ${times.format(new Date(failing_since))} UTC. It was switched off.`,
        'Its deliveries show what the receiver answered. Once the receiver works, switch the endpoint on again, and replay the events of the time between.',
      ],
    }),
  }),
};
