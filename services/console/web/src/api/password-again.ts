// Acts of consequence take a password that was given a short while ago. When the server asks for
// it, so does the console, and then the act goes on as if nothing had been.
type Ask = () => Promise<boolean>;

let ask: Ask = async () => false;

/** Registers what asks for the password; it answers whether the server has taken it. */
export function askForPasswordBy(given: Ask): void {
  ask = given;
}

/** The platform's fetch, which asks for a password that is wanting, and repeats the call. */
export const fetchWithPassword: typeof fetch = async (input, init) => {
  if (!(input instanceof Request)) return fetch(input, init);
  const again = input.clone();
  const response = await fetch(input, init);
  if (response.status !== 403 || !(await isForWantOfPassword(response))) return response;
  return (await ask()) ? fetch(again) : response;
};

/** Gives the password for this session. Throws the refusal, as text, when it is not taken. */
export async function givePassword(password: string): Promise<void> {
  const response = await fetch('/console/session/confirm', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Almanac-Console': '1' },
    body: JSON.stringify({ password }),
  });
  if (response.ok) return;
  const { errors, error } = (await response.json().catch(() => ({}))) as { errors?: string[]; error?: string };
  throw new Error(errors?.[0] ?? error ?? `${response.status}`);
}

async function isForWantOfPassword(response: Response): Promise<boolean> {
  const { problems } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { problems?: { code: string }[] };
  return problems?.some(({ code }) => code === 'password_required') ?? false;
}
