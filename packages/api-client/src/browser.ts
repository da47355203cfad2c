// A minimal browser for log-in and consent pages: cookies, single redirects, forms with hidden
// fields.

export type Form = {
  action: string;
  method: string;
  fields: Record<string, string>;
  passwordField?: string;
  buttons: Button[];
};
export type Button = { name?: string; value: string; text: string };

export type PageSeen = {
  url: string;
  status: number;
  headers: Headers;
  html: string;
  location?: string;
  forms: Form[];
};

/** Links in pages have the public address; this client may reach the server at another one. */
type Reach = { publicUrl: string; url: string };

/** Keeps the cookies of one origin, as a browser does. */
export class Browser {
  readonly cookies = new Map<string, string>();
  private readonly headers: Record<string, string>;
  private readonly reach: Reach | undefined;

  /** `headers` are added to every request, as by a proxy in front of the server. */
  constructor(headers: Record<string, string> = {}, reach?: Reach) {
    this.headers = headers;
    this.reach = reach;
  }

  /** Opens an address. Redirects are not followed: `location` is their target. */
  open(url: string): Promise<PageSeen> {
    return this.fetch(url, {});
  }

  /** Submits a form by `button`, with `values` over its own fields. */
  submit(page: PageSeen, form: Form, values: Record<string, string>, button?: Button): Promise<PageSeen> {
    const pressed = button?.name ? { [button.name]: button.value } : {};
    const content = new URLSearchParams({ ...form.fields, ...values, ...pressed });
    const target = new URL(form.action || page.url, page.url);
    if (form.method === 'get') {
      target.search = content.toString();
      return this.fetch(target.href, {});
    }
    return this.fetch(target.href, {
      method: 'POST',
      body: content,
      headers: { Origin: target.origin, Referer: page.url },
    });
  }

  private async fetch(url: string, init: RequestInit): Promise<PageSeen> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.reachable(url), {
      ...init,
      headers: {
        Accept: 'text/html',
        ...this.headers,
        ...(init.headers as Record<string, string>),
        ...(cookie ? { Cookie: cookie } : {}),
      },
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    });
    for (const line of response.headers.getSetCookie()) this.keepCookie(line);
    const html = await response.text();
    const target = response.headers.get('location');
    return {
      url,
      status: response.status,
      headers: response.headers,
      html,
      ...(target === null ? {} : { location: new URL(target, url).href }),
      forms: readForms(html),
    };
  }

  private reachable(url: string): string {
    const { reach } = this;
    return reach && url.startsWith(`${reach.publicUrl}/`) ? reach.url + url.slice(reach.publicUrl.length) : url;
  }

  private keepCookie(line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const isOver = attributes.some((text) => /^max-age=(0|-\d+)$/i.test(text) || /^expires=.*\b1970\b/i.test(text));
    if (isOver) this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(pair.indexOf('=') + 1));
  }
}

/** Reads the forms of a generated page: attributes in double quotes, nothing nested. */
export function readForms(html: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(([, head = '', inner = '']) => {
    const attributes = readAttributes(head);
    const form: Form = {
      action: attributes.action ?? '',
      method: (attributes.method ?? 'get').toLowerCase(),
      fields: {},
      buttons: [],
    };
    for (const [, text = ''] of inner.matchAll(/<input\b([^>]*)>/gi)) {
      const input = readAttributes(text);
      const type = (input.type ?? 'text').toLowerCase();
      if (type === 'submit')
        form.buttons.push({
          ...(input.name ? { name: input.name } : {}),
          value: input.value ?? '',
          text: input.value ?? '',
        });
      else if (input.name && (!/checkbox|radio/.test(type) || 'checked' in input))
        form.fields[input.name] = input.value ?? '';
      if (type === 'password' && input.name) form.passwordField = input.name;
    }
    for (const [, text = '', label = ''] of inner.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/gi)) {
      const button = readAttributes(text);
      if ((button.type ?? 'submit').toLowerCase() !== 'submit') continue;
      form.buttons.push({
        ...(button.name ? { name: button.name } : {}),
        value: button.value ?? '',
        text: label.replace(/<[^>]*>/g, '').trim(),
      });
    }
    return form;
  });
}

function readAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)];
  return Object.fromEntries(pairs.map(([, name = '', a, b, c]) => [name.toLowerCase(), decode(a ?? b ?? c ?? '')]));
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(#x[\da-f]+|#\d+|\w+);/gi, (whole, name: string) => {
    if (/^#x/i.test(name)) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    if (name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1)));
    return entities[name] ?? whole;
  });
}
