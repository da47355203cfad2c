// Liveness is answering at all; readiness is everything that a call can't do without answering, and not draining. What work can wait for is
// told beside it: if a broker that is away took every instance out of service, its outage would be the API's.

type Check = () => Promise<unknown> | unknown;

export type HealthState = { ready: boolean; checks: Record<string, 'ok' | 'failed'> };

/** Named checks of what a service needs; readiness turns off while it drains. */
export class Health {
  private readonly needed = new Map<string, Check>();
  private readonly watched = new Map<string, Check>();
  private draining = false;
  private started = false;

  /** Adds what calls can't do without; `check` throws or answers false when it isn't there. */
  addReadinessCheck(name: string, check: Check): void {
    this.needed.set(name, check);
  }

  /** Adds what calls get on without for a while: it is told, and changes nothing. */
  addInfoCheck(name: string, check: Check): void {
    this.watched.set(name, check);
  }

  markStarted(): void {
    this.started = true;
  }

  drain(): void {
    this.draining = true;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  async check(): Promise<HealthState> {
    const [needed, watched] = await Promise.all([resultsOf(this.needed), resultsOf(this.watched)]);
    const isAble = !Object.values(needed).includes('failed');
    return { ready: this.started && !this.draining && isAble, checks: { ...needed, ...watched } };
  }
}

async function resultsOf(checks: Map<string, Check>): Promise<HealthState['checks']> {
  const results = [...checks].map(async ([name, check]) => [name, (await passes(check)) ? 'ok' : 'failed'] as const);
  return Object.fromEntries(await Promise.all(results));
}

async function passes(check: Check): Promise<boolean> {
  try {
    return (await check()) !== false;
  } catch {
    return false;
  }
}
