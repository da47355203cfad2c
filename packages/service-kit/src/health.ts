// Liveness is answering at all; readiness is every dependency answering and not draining.

export type HealthState = { ready: boolean; checks: Record<string, 'ok' | 'failed'> };

/** Named checks of what a service needs; readiness turns off while it drains. */
export class Health {
  private readonly checks = new Map<string, () => Promise<unknown> | unknown>();
  private draining = false;
  private started = false;

  /** Adds a dependency; `check` throws or answers false when it isn't there. */
  add(name: string, check: () => Promise<unknown> | unknown): void {
    this.checks.set(name, check);
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
    const names = [...this.checks.keys()];
    const results = await Promise.all(names.map((name) => this.passes(name)));
    const checks = Object.fromEntries(names.map((name, i) => [name, results[i] ? 'ok' : 'failed'] as const));
    return { ready: this.started && !this.draining && results.every(Boolean), checks };
  }

  private async passes(name: string): Promise<boolean> {
    try {
      return (await this.checks.get(name)?.()) !== false;
    } catch {
      return false;
    }
  }
}
