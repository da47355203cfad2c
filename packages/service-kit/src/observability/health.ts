// Liveness: the process answers. Readiness: every dependency without which calls fail answers, and
// the service isn't draining. Dependencies that work can wait for are reported but don't count:
// otherwise an outage of the broker would make every instance unready, and the API with it.

type Check = () => Promise<unknown> | unknown;

export type HealthState = { ready: boolean; checks: Record<string, 'ok' | 'failed'> };

/** Named checks of a service's dependencies. */
export class Health {
  private readonly needed = new Map<string, Check>();
  private readonly watched = new Map<string, Check>();
  private draining = false;
  private started = false;

  /** Adds a dependency of every call. `check` throws or returns false when it is missing. */
  addReadinessCheck(name: string, check: Check): void {
    this.needed.set(name, check);
  }

  /** Adds a dependency that is reported and doesn't affect readiness. */
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
